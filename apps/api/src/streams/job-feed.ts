import { createHash } from 'node:crypto'
import type { JobState } from '@toolyard/contract'
import { compareLogIds, jobJson, logStart, type JobChange, type JobLogs, type JobReader, type ReadJob } from '@toolyard/queue'
import { asError } from '@toolyard/contract'
import { mapInTurns } from '@toolyard/runtime'
import type { EventStream } from './event-stream.ts'
import { commentFrame, eventFrame, jsonFrame } from './frame.ts'

/*
 * The stream of one job's readers, read once for all of them. The job is read first and its log second, so that a final
 * state is shown after every line that was written before it. Each reader has a place of its own in the log. See
 * docs/decisions/0035-job-log.md.
 */

export interface JobFeedParts {
  jobs: JobReader
  logs: JobLogs
  /** Gets the error of a refresh that failed; it is tried again. */
  onError: (error: Error) => void
}

interface Reader {
  stream: EventStream
  /** The last line of the log that it was sent. */
  logId: string
  /** The digest of the job as it was sent last. */
  job: string
}

/** Lines that are read at once. */
const pageLines = 100
/** How long a feed waits for Redis before it tries again, in milliseconds. */
const retryMs = 1_000

const finalStates: ReadonlySet<JobState> = new Set(['succeeded', 'failed', 'cancelled'])
const deletedFrame = eventFrame('end', { reason: 'deleted' })
const awayFrame = commentFrame('Redis is away; the stream goes on when it is back')

/** Shows one job to any number of event streams. */
export class JobFeed {
  readonly #id: string
  readonly #queue: string
  readonly #parts: JobFeedParts
  readonly #readers = new Set<Reader>()
  readonly #stale = { job: false, log: false, progress: false }
  /** The frame has a megabyte and more, and is kept until the readers that wait for it have it. */
  #job: { status: JobState, digest: string, frame: Buffer | undefined }
  #refreshing = false
  /** The last refresh failed; readers and the log were told. */
  #isAway = false
  #retry: NodeJS.Timeout | undefined

  constructor (job: ReadJob, parts: JobFeedParts) {
    this.#id = job.view.id
    this.#queue = job.view.queue
    this.#parts = parts
    this.#job = { status: job.view.status, digest: digestOf(jobFrame(job)), frame: undefined }
  }

  /** Nobody reads it. */
  get isEmpty (): boolean {
    return this.#readers.size === 0
  }

  /** The line up to which every reader has been sent the log. */
  get lastLogId (): string {
    return lowest([...this.#readers])
  }

  /** Shows the job as it was just read, then its log after the line `logId`, then what changes. Returns the way out. */
  add (stream: EventStream, job: ReadJob, logId: string): () => void {
    const frame = jobFrame(job)
    const digest = digestOf(frame)
    const isKnown = digest === this.#job.digest
    stream.send(frame)
    const reader = { stream, logId, job: digest }
    this.#readers.add(reader)
    stream.onDrain = () => { this.change('log') }
    this.change(isKnown ? 'log' : 'job')
    return () => {
      this.#readers.delete(reader)
      if (this.isEmpty) clearTimeout(this.#retry)
    }
  }

  endAll (frame: Buffer): void {
    const readers = [...this.#readers]
    this.#readers.clear()
    void mapInTurns(readers, ({ stream }) => { stream.end(frame) })
    clearTimeout(this.#retry)
  }

  /** The job, or only its log or its progress, may have changed. */
  change (what: JobChange): void {
    this.#stale[what] = true
    if (!this.#refreshing) void this.#refresh()
  }

  async #refresh (): Promise<void> {
    this.#refreshing = true
    try {
      while (!this.isEmpty && (this.#stale.job || this.#stale.log || this.#stale.progress)) await this.#show()
      this.#isAway = false
    } catch (error) {
      this.#tryLater(asError(error))
    } finally {
      this.#refreshing = false
    }
  }

  #tryLater (error: Error): void {
    if (!this.#isAway) {
      void mapInTurns([...this.#readers], ({ stream }) => { stream.send(awayFrame) })
      this.#parts.onError(error)
    }
    this.#isAway = true
    clearTimeout(this.#retry)
    if (!this.isEmpty) this.#retry = setTimeout(() => { this.change('job') }, retryMs)
  }

  async #show (): Promise<void> {
    const { job: readJob, progress: readProgress } = this.#stale
    this.#stale.job = this.#stale.log = this.#stale.progress = false
    // A job that is read has its progress with it. By itself it is a few bytes, whatever else the job holds.
    if (readProgress && !readJob) await this.#showProgress()
    if (readJob) {
      const job = await this.#parts.jobs.find(this.#id, { queues: [this.#queue] })
      if (job === undefined) {
        this.endAll(deletedFrame)
        return
      }
      const frame = jobFrame(job)
      this.#job = { status: job.view.status, digest: digestOf(frame), frame }
    }
    await mapInTurns(await this.#showLog(), reader => { this.#showJob(reader) })
    this.#job = { ...this.#job, frame: undefined }
  }

  /** Who is full misses it: the next one tells more. */
  async #showProgress (): Promise<void> {
    const progress = await this.#parts.jobs.progress(this.#queue, this.#id)
    if (progress === undefined) return
    const frame = eventFrame('progress', { progress })
    await mapInTurns([...this.#readers], ({ stream }) => { if (!stream.isFull) stream.send(frame) })
  }

  /** Sends the rest of the log; gives the readers that have it all. A full one goes on when it drains. */
  async #showLog (): Promise<Reader[]> {
    for (;;) {
      const ready = [...this.#readers].filter(({ stream }) => !stream.isFull)
      if (ready.length === 0) return []
      const entries = await this.#parts.logs.after(this.#queue, this.#id, lowest(ready), pageLines)
      const lines = entries.map(entry => ({ id: entry.id, frame: eventFrame('log_append', entry, entry.id) }))
      const haveAll = await mapInTurns(ready, reader => sendLines(reader, lines))
      if (entries.length < pageLines) return ready.filter(({ stream }, at) => haveAll[at] === true && !stream.isFull)
    }
  }

  #showJob (reader: Reader): void {
    const { status, digest, frame } = this.#job
    if (reader.job !== digest) {
      // It was full when the others were sent the job: that is read again.
      this.#stale.job ||= frame === undefined
      if (frame === undefined) return
      reader.stream.send(frame)
      reader.job = digest
    }
    if (finalStates.has(status)) reader.stream.end(eventFrame('end', { reason: 'finished', status }))
  }
}

/** Whether the reader has all of them now. One that was full may have drained already. */
function sendLines (reader: Reader, lines: ReadonlyArray<{ id: string, frame: Buffer }>): boolean {
  const missing = lines.filter(({ id }) => compareLogIds(id, reader.logId) > 0)
  const sent = reader.stream.sendAll(missing.map(({ frame }) => frame))
  reader.logId = missing[sent - 1]?.id ?? reader.logId
  return sent === missing.length
}

function lowest (readers: readonly Reader[]): string {
  const [first, ...rest] = readers.map(({ logId }) => logId)
  return rest.reduce((low, id) => compareLogIds(id, low) < 0 ? id : low, first ?? logStart)
}

function digestOf (frame: Buffer): string {
  return createHash('sha256').update(frame).digest('base64url')
}

function jobFrame (job: ReadJob): Buffer {
  return jsonFrame('job_update', [Buffer.from('{"job":'), ...jobJson(job), Buffer.from('}')])
}
