import type { LogLevel } from '@toolyard/contract'
import { asError, limits, firstChars } from '@toolyard/contract/terms'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Redis, jobKey, jobLogKey, mayRedisTakeItLater, serverTime } from '@toolyard/store'
import { publishJobChange } from './job-change.ts'
import { outputSec, type Retention } from '../retention.ts'

export interface LogLine {
  level: LogLevel
  /** Longer ones are cut at 4,096 UTF-16 units. */
  message: string
  meta?: Record<string, unknown>
}

interface JobLogTarget {
  redis: Redis
  queue: string
  jobId: string
  /** A log is kept as long as an output. */
  retention: Retention
  /** Lines come long after the end of the job: what comes when it is gone is dropped, since nobody could read it. */
  isLate?: true
  /** Gets the error when lines could not be written; a log never makes a job fail. */
  onError: (error: Error) => void
}

/** While Redis takes none, lines are tried to be written this often, and after the end of the run this long, in milliseconds. */
const againMs = 200
const patienceMs = 3_000

/** Least time between two writes of one job, in milliseconds: a chatty tool costs Redis twenty commands a second. */
const intervalMs = 50
/** Lines of one write, so that neither Redis nor this process is held up by it. */
const linesAtOnce = 200

/**
 * Adds lines, unless the last line shows that this batch was added already: a connection that breaks between a command
 * and its reply sends the command again. KEYS: log, and the job where it must be there. ARGV: mark of the batch, lines kept, time to
 * live, then the fields of the lines.
 */
const appendScript = `
if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and last[2][1] == 'batch' and last[2][2] == ARGV[1] then return 0 end
for i = 4, #ARGV, 4 do
  local fields = {'batch', ARGV[1], 'ts', ARGV[i], 'level', ARGV[i + 1], 'message', ARGV[i + 2]}
  if ARGV[i + 3] ~= '' then fields[9] = 'meta'; fields[10] = ARGV[i + 3] end
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', unpack(fields))
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
`

/**
 * Writes one job's log while the job runs: the first line at once, those that follow together, at most every 50 ms and
 * in order. While Redis is away or full the newest lines wait, as many as a log keeps.
 */
export class JobLogWriter {
  readonly #target: JobLogTarget
  #name: string | undefined
  #batches = 0
  #lines: string[][] = []
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #flushedAt = -intervalMs
  /** When the run ended, by `performance.now()`. */
  #closedAt: number | undefined

  constructor (target: JobLogTarget) {
    this.#target = target
  }

  write ({ level, message, meta }: LogLine): void {
    this.#lines.push([new Date(serverTime(this.#target.redis)).toISOString(), level, firstChars(message, limits.logMessageChars), meta === undefined ? '' : JSON.stringify(meta)])
    if (this.#lines.length > limits.logLines) this.#lines.shift()
    this.#schedule()
  }

  /** Resolves when all lines are written, or were given up: while Redis takes none, they are the last ones. */
  async close (): Promise<void> {
    clearTimeout(this.#timer)
    this.#closedAt ??= performance.now()
    while (this.#lines.length > 0 || this.#flushing !== undefined) await this.#flush()
  }

  #schedule (): void {
    if (this.#timer !== undefined || this.#flushing !== undefined) return
    const wait = Math.max(0, this.#flushedAt + intervalMs - performance.now())
    this.#timer = setTimeout(() => { void this.#flush() }, wait)
  }

  /** One at a time, so that lines keep their order. */
  async #flush (): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#flushing ??= this.#append().finally(() => {
      this.#flushing = undefined
      this.#flushedAt = performance.now()
      if (this.#lines.length > 0) this.#schedule()
    })
    await this.#flushing
  }

  async #append (): Promise<void> {
    const { redis, queue, jobId, retention, isLate, onError } = this.#target
    const lines = this.#lines.splice(0, linesAtOnce)
    this.#name ??= randomBytes(6).toString('base64url')
    this.#batches += 1
    const batch = `${this.#name}.${this.#batches}`
    for (;;) {
      try {
        const keys = [jobLogKey(queue, jobId), ...isLate === true ? [jobKey(queue, jobId)] : []]
        await redis.eval(appendScript, keys.length, ...keys, batch, limits.logLines, outputSec(retention), ...lines.flat())
        await publishJobChange(redis, jobId, 'log')
        return
      } catch (error) {
        const isOver = performance.now() - (this.#closedAt ?? Infinity) >= patienceMs
        if (!mayRedisTakeItLater(error) || isOver) {
          // The text behind a gap would look whole.
          if (isOver) this.#lines = []
          onError(asError(error))
          return
        }
        await delay(againMs)
      }
    }
  }
}
