import type { LogEntry } from '@toolyard/contract'
import { logStart, type JobLogs, type JobWatch } from '@toolyard/queue'
import type { Notification, ProgressToken } from '@modelcontextprotocol/server'
import { roomIn, type Exchange } from './exchange.ts'

/** What notices are made of. */
export interface CallNoticesParts {
  logs: JobLogs
  watch: JobWatch
}

/** What a client asked for with its call. */
export interface WantedNotices {
  progressToken: ProgressToken | undefined
  /** From which level on it wants lines of the log as messages; undefined for none. */
  logLevel: string | undefined
}

/** Levels of MCP, by gravity. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
const levelOf = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' } as const
/** Lines that are read at once. */
const pageLines = 100

/**
 * Tells a client what a job writes to its log while it runs: each line is a step of progress, and a message where the
 * client wants messages of its level. Lines that the job's log no longer has are left out.
 */
export class CallNotices {
  readonly #parts: CallNoticesParts
  readonly #exchange: Exchange
  readonly #wanted: WantedNotices
  readonly #notify: (notification: Notification) => Promise<void>
  #job: { queue: string, id: string } | undefined
  #unwatch = (): void => {}
  #lastLogId: string = logStart
  #lines = 0
  #reading: Promise<void> | undefined
  #isStale = false

  constructor (parts: CallNoticesParts, exchange: Exchange, wanted: WantedNotices, notify: (notification: Notification) => Promise<void>) {
    this.#parts = parts
    this.#exchange = exchange
    this.#wanted = wanted
    this.#notify = notify
  }

  /** Follows the log of the call's job, which is there now. */
  follow (queue: string, id: string): void {
    this.#job = { queue, id }
    this.#unwatch = this.#parts.watch.watch({ id, queue, lastLogId: () => this.#lastLogId, onChange: () => { this.#read() } })
  }

  /** Tells the rest of the log: the job has ended, or nobody reads any more. */
  async finish (): Promise<void> {
    this.#unwatch()
    this.#read()
    await this.#reading
  }

  #read (): void {
    this.#isStale = true
    // A log that can't be read now is read when the job changes next; the call's answer doesn't depend on it.
    this.#reading ??= this.#readAll().catch(() => {}).finally(() => { this.#reading = undefined })
  }

  async #readAll (): Promise<void> {
    const job = this.#job
    if (job === undefined) return
    while (this.#isStale && !this.#exchange.gone.aborted) {
      this.#isStale = false
      const entries = await this.#parts.logs.after(job.queue, job.id, this.#lastLogId, pageLines)
      for (const entry of entries) await this.#tell(entry)
      this.#lastLogId = entries.at(-1)?.id ?? this.#lastLogId
      this.#isStale ||= entries.length === pageLines
      await roomIn(this.#exchange)
    }
  }

  async #tell ({ level, message, meta }: LogEntry): Promise<void> {
    const { progressToken, logLevel } = this.#wanted
    this.#lines += 1
    if (progressToken !== undefined) {
      await this.#notify({
        method: 'notifications/progress', params: { progressToken, progress: this.#lines, message }
      })
    }
    if (logLevel === undefined || levels.indexOf(levelOf[level]) < levels.indexOf(logLevel)) return
    await this.#notify({
      method: 'notifications/message', params: { level: levelOf[level], data: meta === null ? message : { message, ...meta } }
    })
  }
}
