import { onAbort } from '@toolyard/runtime'
import { HttpError } from '@toolyard/contract'
import type { JobWatch, ReadJob } from '@toolyard/queue'
import type { FastifyReply } from 'fastify'
import { streamHeaders } from './event-stream.ts'
import type { EventStreams } from './event-streams.ts'
import { commentFrame, retryFrame } from './frame.ts'
import { JobFeed, type JobFeedParts } from './job-feed.ts'

interface JobStreamsParts extends JobFeedParts {
  watch: JobWatch
  streams: EventStreams
  /** Aborted when the process begins to stop: readers are sent away, to come back to another one. */
  stopping: AbortSignal
}

interface OpenFeed {
  feed: JobFeed
  unwatch: () => void
}

const stoppingFrame = commentFrame('the service is stopping; connect again')

/** The streams of jobs that this process serves: one feed for each job, however many readers it has. */
export class JobStreams {
  readonly #parts: JobStreamsParts
  readonly #feeds = new Map<string, OpenFeed>()

  constructor (parts: JobStreamsParts) {
    this.#parts = parts
    onAbort(parts.stopping, () => {
      for (const { feed } of this.#feeds.values()) feed.endAll(stoppingFrame)
    })
  }

  /**
   * Streams a job, as it was just read, from the log line after `logId`. Returns at once.
   *
   * @throws HttpError `UNAVAILABLE` when too many streams are open, or the process stops.
   */
  open (job: ReadJob, logId: string, reply: FastifyReply): void {
    this.#requireRoom()
    const stream = this.#parts.streams.open(reply)
    if (stream.isClosed) return
    stream.send(retryFrame)
    const { feed, unwatch } = this.#feedOf(job)
    const leave = feed.add(stream, job, logId)
    // A stream that is open keeps no job, which may have a megabyte.
    const { id } = job.view
    stream.onClose = () => {
      leave()
      if (!feed.isEmpty || this.#feeds.get(id)?.feed !== feed) return
      this.#feeds.delete(id)
      unwatch()
    }
  }

  /** Answers `HEAD` as `open` would, without a stream. */
  async sendHead (reply: FastifyReply): Promise<FastifyReply> {
    this.#requireRoom()
    return await reply.headers(streamHeaders).send()
  }

  #requireRoom (): void {
    if (this.#parts.stopping.aborted) throw new HttpError('UNAVAILABLE', 'The service is stopping')
    this.#parts.streams.requireRoom()
  }

  #feedOf (job: ReadJob): OpenFeed {
    const known = this.#feeds.get(job.view.id)
    if (known !== undefined) return known
    const feed = new JobFeed(job, this.#parts)
    const unwatch = this.#parts.watch.watch({
      id: job.view.id,
      queue: job.view.queue,
      lastLogId: () => feed.lastLogId,
      onChange: change => { feed.change(change) }
    })
    const opened = { feed, unwatch }
    this.#feeds.set(job.view.id, opened)
    return opened
  }
}
