import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { type Redis, takeTurn, upkeepKey } from '@toolyard/store'
import { askMs, turnMs } from '../backend/lock-times.ts'

/** A queue whose lost jobs are taken from their workers. */
interface WatchedQueue {
  recover: () => Promise<void>
}

interface LostJobsOptions {
  redis: Redis
  /** Processes of the same group, that is with the same texts, take turns. */
  group: readonly string[]
  watched: () => Iterable<[name: string, queue: WatchedQueue]> | Promise<Iterable<[name: string, queue: WatchedQueue]>>
  onError: (error: Error, queue: string) => void
}

/**
 * Looks for the jobs of workers that died. Of the processes that look at the same queues, one at a time does it for all of
 * these queues: docs/decisions/0086-idle-workers.md.
 */
export class LostJobs {
  readonly #options: LostJobsOptions
  readonly #key: string
  /** Queues whose node of a Cluster hasn't answered yet. */
  readonly #asked = new Set<string>()
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
    const { redis, watched, onError } = this.#options
    // A connection that is away would keep the commands until it is back.
    if (redis.status !== 'ready') return
    let queues: Iterable<[name: string, queue: WatchedQueue]>
    try {
      // In a Cluster, the node that knows whose turn it is may be away, while the nodes of other queues are there.
      const isTurn = takeTurn(redis, this.#key, turnMs)
      isTurn.catch(() => {})
      if (!await Promise.race([isTurn, delay(askMs, true, { ref: false })])) return
      queues = await watched()
    } catch (error) {
      if (!this.#isStopped) onError(asError(error), '*')
      return
    }
    for (const [name, queue] of queues) {
      if (this.#asked.has(name)) continue
      this.#asked.add(name)
      void queue.recover()
        .catch((error: unknown) => { if (!this.#isStopped) onError(asError(error), name) })
        .finally(() => { this.#asked.delete(name) })
    }
  }
}
