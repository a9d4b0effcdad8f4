import { grouped } from '@toolyard/contract/terms'
import {
  BatchedScript, eachCall, fromRedis, GatheredCalls, jobKey, queuesChannel, queuesKey, whileAvailable, type Redis, type ScriptCall
} from '@toolyard/store'

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

/** Answers the options of a job, an empty text where there is no such job. */
const optionsScript = new BatchedScript('job-options', eachCall("return redis.call('HGET', KEYS[1], 'opts') or ''"))
/** Of fewer jobs commands cost less. */
const leastOfScript = 4

/** For so long a process trusts that a queue is still in the set, in milliseconds: it may not notice a cluster's failover. */
const trustMs = 5_000

/** The queues that exist, shared by all processes through one Redis set. */
export class QueueDirectory {
  readonly #redis: Redis
  readonly #maxQueues: number
  /** When each queue was known to be in the set last. */
  readonly #registered = new Map<string, number>()
  readonly #asked: GatheredCalls
  #listing: Promise<string[]> | undefined

  constructor (redis: Redis, maxQueues: number) {
    this.#redis = redis
    this.#maxQueues = maxQueues
    this.#asked = new GatheredCalls(async calls => await this.#optionsOf(calls))
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

  /** The names of all queues, sorted. Those who ask before anything else happens share one answer. */
  async list (): Promise<readonly string[]> {
    if (this.#listing === undefined) {
      this.#listing = whileAvailable(this.#redis.smembers(queuesKey)).then(queues => queues.sort())
      queueMicrotask(() => { this.#listing = undefined })
    }
    return await this.#listing
  }

  /**
   * The queue that a job is in: an id doesn't tell. Who asks in the same turn of the event loop shares commands: with 64 queues, 100
   * dependencies of one request were 6,400 of them, and fifty such requests took a turn of 0.4 s.
   *
   * @param isMeant whether a job with these options, in their JSON, may be found
   * @throws RedisUnavailableError
   */
  async find (jobId: string, queues: readonly string[], isMeant: (options: string) => boolean): Promise<string | undefined> {
    const found = await whileAvailable(this.#asked.replies(queues.map(queue => ({ keys: [jobKey(queue, jobId)], args: [queue] }))))
    for (const [place, reply] of found.entries()) {
      if (reply instanceof Error) throw reply
      const options = fromRedis<string | null>(reply) ?? ''
      if (options !== '' && isMeant(options)) return queues[place]
    }
    return undefined
  }

  /** A script works in one queue alone. */
  async #optionsOf (calls: readonly ScriptCall[]): Promise<unknown[]> {
    const replies: unknown[] = []
    await Promise.all([...grouped(calls.entries(), ([, { args: [queue] }]) => queue).values()].map(async entries => {
      const own = entries.map(([, call]) => call)
      const answers = own.length < leastOfScript
        ? await Promise.all(own.map(async ({ keys: [key = ''] }) => await this.#redis.hget(key, 'opts')))
        : await optionsScript.run(this.#redis, own)
      for (const [at, [place]] of entries.entries()) replies[place] = answers[at]
    }))
    return replies
  }
}
