import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { type Redis, takeTurn, upkeepKey } from '@toolyard/store'
import { askMs, turnMs } from '../backend/lock-times.ts'

/** A queue whose lost jobs are taken from their workers. */
interface WatchedQueue {
  recover: () => Promise<void>
}

export interface LostJobsOptions {
  redis: Redis
  /** Processes of the same group, that is with the same texts, take turns. */
  group: readonly string[]
  watched: () => Iterable<[name: string, queue: WatchedQueue]> | Promise<Iterable<[name: string, queue: WatchedQueue]>>
  onError: (error: Error, queue: string) => void
}

const all = '*'

/**
 * Looks for the jobs of workers that died. Of the processes that look at the same queues, one at a time does it for all of
 * these queues: docs/decisions/0086-idle-workers.md.
 */
export class LostJobs {
  readonly #options: LostJobsOptions
  readonly #key: string
  /** Queues whose node of a Cluster hasn't answered yet. */
  readonly #asked = new Set<string>()
  /** What each queue that can't be looked at says: it is told once, and not four times a second. */
  readonly #told = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor (options: LostJobsOptions) {
    this.#options = options
    const group = createHash('sha256').update([...options.group].sort().join(',')).digest('base64url').slice(0, 16)
    this.#key = upkeepKey(`lost-jobs:${group}`)
  }

  start (): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => { void this.#look().finally(() => { this.start() }) }, askMs)
  }

  stop (): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  async #look (): Promise<void> {
    const { redis, watched } = this.#options
    // A connection that is away would keep the commands until it is back.
    if (redis.status !== 'ready') return
    let queues: Iterable<[name: string, queue: WatchedQueue]>
    try {
      // In a Cluster, the node that knows whose turn it is may be away, while the nodes of other queues are there.
      const isTurn = takeTurn(redis, this.#key, turnMs)
      isTurn.catch(() => {})
      if (!await Promise.race([isTurn, delay(askMs, true, { ref: false })])) return
      queues = await watched()
      this.#told.delete(all)
    } catch (error) {
      this.#tell(asError(error), all)
      return
    }
    for (const [name, queue] of queues) {
      if (this.#asked.has(name)) continue
      this.#asked.add(name)
      void queue.recover()
        .then(() => { this.#told.delete(name) }, (error: unknown) => { this.#tell(asError(error), name) })
        .finally(() => { this.#asked.delete(name) })
    }
  }

  #tell (error: Error, queue: string): void {
    if (this.#isStopped || this.#told.get(queue) === error.message) return
    this.#told.set(queue, error.message)
    this.#options.onError(error, queue)
  }
}
