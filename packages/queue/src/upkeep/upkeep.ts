import { asError } from '@toolyard/contract/terms'
import type { JobCanceller } from '../change/job-canceller.ts'
import type { JobQueues } from '../queues/job-queues.ts'
import { upkeepKey, type Redis, takeTurn } from '@toolyard/store'
import { dropEndedJobs } from '../queues/open-jobs.ts'
import type { QueueDirectory } from '../queues/queue-directory.ts'
import type { SerialLock } from '../queues/serial-lock.ts'
import type { Retention } from '../record/retention.ts'
import { postApprovalEvents } from './approval-events.ts'
import { countJobs } from './count-jobs.ts'
import { forgetEmptyQueues } from './empty-queues.ts'
import { removeOldJobs } from './old-jobs.ts'
import { postForgottenCallbacks } from './open-callbacks.ts'
import { cancelOrphanedSteps } from './orphaned-steps.ts'
import { reviewParkedJobs, wakeDueJobs } from './parked-jobs.ts'

interface UpkeepOptions {
  redis: Redis
  queues: JobQueues
  directory: QueueDirectory
  canceller: JobCanceller
  serialLock: SerialLock
  retention: Retention
  /** Who is told of held calls. */
  approvalUrl?: string | undefined
  onError: (error: Error, queue: string) => void
}

interface Task {
  name: string
  everyMs: number
  /** Idempotent, as two processes may be at it. */
  run: (queues: readonly string[]) => Promise<void>
}

/**
 * The work that belongs to no running job. Every worker process runs it; each task is done by one process at a time, and
 * costs a command or two for each queue. See docs/decisions/0015-upkeep.md.
 */
export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #tasks: Task[]
  readonly #timers = new Set<NodeJS.Timeout>()
  #stopped = false

  constructor (options: UpkeepOptions) {
    this.#options = options
    const callbacks = { cursor: '0' }
    this.#tasks = [
      { name: 'alarms', everyMs: 1_000, run: this.#each(queue => wakeDueJobs(options, queue)) },
      { name: 'serial', everyMs: 1_000, run: queues => options.serialLock.review(queues) },
      // By names of their own: older releases do `callbacks`, `approvals` and `approval-events`, and know other lists alone.
      { name: 'open-callbacks', everyMs: 2_000, run: () => postForgottenCallbacks(options, callbacks) },
      { name: 'held-events', everyMs: 1_000, run: async () => { await postApprovalEvents(options) } },
      { name: 'parked', everyMs: 3_000, run: async queues => { await this.#each(queue => reviewParkedJobs(options, queue, queues.length))(queues) } },
      { name: 'steps', everyMs: 3_000, run: this.#each(queue => cancelOrphanedSteps(options, queue)) },
      { name: 'old-jobs', everyMs: 10_000, run: this.#each(queue => removeOldJobs(options, queue)) },
      { name: 'old-callbacks', everyMs: 60_000, run: () => options.queues.callbacks.dropOld() },
      { name: 'count-jobs', everyMs: 15_000, run: async () => { await countJobs(options) } },
      { name: 'open-jobs', everyMs: 20_000, run: async () => { await dropEndedJobs(options.redis) } },
      { name: 'empty-queues', everyMs: 20_000, run: queues => forgetEmptyQueues(options, queues) }
    ]
  }

  start (): void {
    for (const task of this.#tasks) this.#schedule(task)
  }

  stop (): void {
    this.#stopped = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #schedule (task: Task): void {
    if (this.#stopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void this.#do(task).finally(() => { this.#schedule(task) })
    }, task.everyMs)
    this.#timers.add(timer)
  }

  async #do ({ name, everyMs, run }: Task): Promise<void> {
    const { redis, directory, onError } = this.#options
    // A connection that is away would keep the commands until it is back.
    if (redis.status !== 'ready') return
    try {
      // Runs out a little earlier than the next turn of the same process.
      if (!await takeTurn(redis, upkeepKey(name), Math.round(everyMs * 0.9))) return
      await run(await directory.list())
    } catch (error) {
      if (!this.#stopped) onError(asError(error), '*')
    }
  }

  /** A queue with which something is wrong doesn't keep the others from their turn. */
  #each (run: (queue: string) => Promise<void>): Task['run'] {
    return async queues => {
      for (const queue of queues) {
        if (this.#stopped || this.#options.redis.status !== 'ready') return
        await run(queue).catch((error: unknown) => { if (!this.#stopped) this.#options.onError(asError(error), queue) })
      }
    }
  }
}
