import { type Redis, queuesChannel, queuesKey, whileAvailable } from '@toolyard/store'

/** The queue would be one too many (`MAX_QUEUES`). */
export class QueueLimitError extends Error {
  override readonly name = 'QueueLimitError'
}

/** Adds a queue unless it is new and the set is full; answers 1 when the queue is in the set. ARGV: queue, most, channel. */
const registerScript = `
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then return 1 end
if redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('PUBLISH', ARGV[3], ARGV[1])
return 1
`

/** For so long a process trusts that a queue is still in the set, in milliseconds: it may not notice a cluster's failover. */
const trustMs = 5_000

/** The queues that exist, shared by all processes through one Redis set. */
export class QueueDirectory {
  readonly #redis: Redis
  readonly #maxQueues: number
  /** When each queue was known to be in the set last. */
  readonly #registered = new Map<string, number>()

  constructor (redis: Redis, maxQueues: number) {
    this.#redis = redis
    this.#maxQueues = maxQueues
    // A Redis that comes back may have lost the set, and a replica that took over may never have had it.
    redis.on('close', () => { this.#registered.clear() })
  }

  /**
   * Makes a queue known to all workers. For each queue this costs a round trip at most every 5 s: see `trustMs`.
   *
   * @throws QueueLimitError when it is new and `MAX_QUEUES` exist already; RedisUnavailableError.
   */
  async register (queue: string): Promise<void> {
    if ((this.#registered.get(queue) ?? -Infinity) > performance.now() - trustMs) return
    const added = await whileAvailable(this.#redis.eval(registerScript, 1, queuesKey, queue, this.#maxQueues, queuesChannel))
    if (added === 0) {
      throw new QueueLimitError(`Queue '${queue}' can't be made: ${this.#maxQueues} queues exist already, the most that MAX_QUEUES allows`)
    }
    this.#noteRegistered(queue)
  }

  /** Names come and go: those that are trusted no longer are forgotten. A map keeps the order of insertion. */
  #noteRegistered (queue: string): void {
    const now = performance.now()
    for (const [known, at] of this.#registered) {
      if (at > now - trustMs) break
      this.#registered.delete(known)
    }
    this.#registered.delete(queue)
    this.#registered.set(queue, now)
  }

  /** Takes a queue out; workers that serve all queues leave it. */
  async forget (queue: string): Promise<void> {
    await this.#redis.srem(queuesKey, queue)
  }

  /** Puts a queue back that turned out to be in use, also beyond the limit. */
  async restore (queue: string): Promise<void> {
    await this.#redis.sadd(queuesKey, queue)
    await this.#redis.publish(queuesChannel, queue)
  }

  /** The names of all queues, sorted. */
  async list (): Promise<string[]> {
    return (await whileAvailable(this.#redis.smembers(queuesKey))).sort()
  }
}
