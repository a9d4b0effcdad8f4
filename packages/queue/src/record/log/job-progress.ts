import { asError, boundedProgress, isRecord, type Progress } from '@toolyard/contract/terms'
import { type Redis, jobChannel, jobKey, jobPartKey, RedisUnavailableError } from '@toolyard/store'

/*
 * How far a job is: a field of its record, which BullMQ has for that. A tool may tell it a million times; it is written a
 * few times a second, each time with what is true then. Nothing depends on it: what can't be written is left out.
 */

/** Least time between two writes of one job, in milliseconds. */
const intervalMs = 250

/** KEYS: job, lock. ARGV: token, progress or nothing, channel. Who has lost the job writes nothing. */
const writeScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('HDEL', KEYS[1], 'progress') else redis.call('HSET', KEYS[1], 'progress', ARGV[2]) end
redis.call('PUBLISH', ARGV[3], 'progress')
return 1
`

/** Whose progress is written. */
interface JobProgressTarget {
  redis: Redis
  queue: string
  jobId: string
  /** Of the lock. */
  token: string
  /** Gets errors, but not that Redis is away. */
  onError: (error: Error) => void
}

/** Writes the progress of one job while it runs: the first at once, then the latest of each quarter of a second. */
export class JobProgressWriter {
  readonly #target: JobProgressTarget
  #latest: (() => Progress) | undefined
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #writtenAt = -intervalMs

  constructor (target: JobProgressTarget) {
    this.#target = target
  }

  /** @param make is called when it is written, if nothing newer has come until then. */
  write (make: () => Progress): void {
    this.#latest = make
    if (this.#timer !== undefined || this.#writing !== undefined) return
    this.#timer = setTimeout(() => { void this.#flush() }, Math.max(0, this.#writtenAt + intervalMs - performance.now()))
  }

  /** Takes away what an earlier run has left. */
  async clear (): Promise<void> {
    await this.#store('')
  }

  /** Resolves when the last one is written, or given up. */
  async close (): Promise<void> {
    clearTimeout(this.#timer)
    while (this.#latest !== undefined || this.#writing !== undefined) await this.#flush()
  }

  async #flush (): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#store(this.#take()).finally(() => {
      this.#writing = undefined
      this.#writtenAt = performance.now()
      if (this.#latest !== undefined) this.write(this.#latest)
    })
    await this.#writing
  }

  #take (): string {
    const make = this.#latest
    this.#latest = undefined
    return make === undefined ? '' : JSON.stringify(boundedProgress(make()))
  }

  async #store (json: string): Promise<void> {
    const { redis, queue, jobId, token, onError } = this.#target
    try {
      if (redis.status !== 'ready') return
      await redis.eval(writeScript, 2, jobKey(queue, jobId), jobPartKey(queue, jobId, 'lock'), token, json, jobChannel(jobId))
    } catch (error) {
      if (!(error instanceof RedisUnavailableError)) onError(asError(error))
    }
  }
}

/** Reads what a record has; undefined for none, which BullMQ writes as 0. */
export function readProgress (value: unknown): Progress | undefined {
  if (!isRecord(value) || typeof value['done'] !== 'number') return undefined
  const { done, total, text } = value
  return { done, total: typeof total === 'number' ? total : null, text: typeof text === 'string' ? text : null }
}
