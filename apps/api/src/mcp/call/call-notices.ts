import type { LogEntry } from '@toolyard/contract'
import { logStart, type JobChange } from '@toolyard/queue'
import type { Notification, ProgressToken } from '@modelcontextprotocol/server'
import { roomIn, type Exchange } from './exchange.ts'
import type { McpParts } from './mcp-parts.ts'

/** Notices that a client asked for with its call. */
interface WantedNotices {
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
 * Tells a client how far a job is while it runs, and what it writes to its log. Where the tool doesn't tell how far it is, each
 * line is a step of progress. Lines are messages as well where the client wants messages of their level. Lines that the
 * job's log no longer has are left out.
 */
export class CallNotices {
  readonly #parts: McpParts
  readonly #exchange: Exchange
  readonly #wanted: WantedNotices
  readonly #notify: (notification: Notification) => Promise<void>
  #job: { queue: string, id: string } | undefined
  #unwatch = (): void => {}
  #lastLogId: string = logStart
  /** The last number that was told: it only grows. */
  #told = -1
  #toldByTool = false
  #reading: Promise<void> | undefined
  #isStale = false
  #isAhead = false

  constructor (parts: McpParts, exchange: Exchange, wanted: WantedNotices, notify: (notification: Notification) => Promise<void>) {
    this.#parts = parts
    this.#exchange = exchange
    this.#wanted = wanted
    this.#notify = notify
  }

  /** Follows the log of the call's job, which is there now. */
  follow (queue: string, id: string): void {
    this.#job = { queue, id }
    this.#unwatch = this.#parts.watch.watch({ id, queue, lastLogId: () => this.#lastLogId, onChange: change => { this.#read(change) } })
  }

  /** Tells the rest of the log: the job has ended, or nobody reads any more. */
  async finish (): Promise<void> {
    this.#unwatch()
    this.#read('progress')
    await this.#reading
  }

  #read (change: JobChange): void {
    this.#isStale = true
    this.#isAhead ||= change !== 'log' && this.#wanted.progressToken !== undefined
    // A log that can't be read now is read when the job changes next; the call's answer doesn't depend on it.
    this.#reading ??= this.#readAll().catch(() => {}).finally(() => { this.#reading = undefined })
  }

  async #readAll (): Promise<void> {
    const job = this.#job
    if (job === undefined) return
    while (this.#isStale && !this.#exchange.gone.aborted) {
      this.#isStale = false
      if (this.#isAhead) await this.#tellProgress(job)
      const entries = await this.#parts.logs.after(job.queue, job.id, this.#lastLogId, pageLines)
      for (const entry of entries) await this.#tell(entry)
      this.#lastLogId = entries.at(-1)?.id ?? this.#lastLogId
      this.#isStale ||= entries.length === pageLines
      await roomIn(this.#exchange)
    }
  }

  async #tellProgress ({ queue, id }: { queue: string, id: string }): Promise<void> {
    this.#isAhead = false
    const { progressToken } = this.#wanted
    const progress = await this.#parts.jobs.progress(queue, id)
    if (progress === undefined || progressToken === undefined) return
    const { done, total, text } = progress
    // Lines don't count any more. The protocol lets no step be below the one before.
    this.#toldByTool = true
    if (done <= this.#told) return
    this.#told = done
    await this.#notify({
      method: 'notifications/progress',
      params: { progressToken, progress: done, ...(total === null ? {} : { total }), ...(text === null ? {} : { message: text }) }
    })
  }

  async #tell ({ level, message, meta }: LogEntry): Promise<void> {
    const { progressToken, logLevel } = this.#wanted
    if (progressToken !== undefined && !this.#toldByTool) {
      this.#told = Math.max(0, this.#told) + 1
      await this.#notify({ method: 'notifications/progress', params: { progressToken, progress: this.#told, message } })
    }
    if (logLevel === undefined || levels.indexOf(levelOf[level]) < levels.indexOf(logLevel)) return
    await this.#notify({
      method: 'notifications/message', params: { level: levelOf[level], data: meta === null ? message : { message, ...meta } }
    })
  }
}
