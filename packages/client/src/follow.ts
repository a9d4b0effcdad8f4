import { ToolyardError } from './http/errors.ts'
import { pathSegment } from './http/path-segment.ts'
import { record, text } from './http/shape.ts'
import { jobShape } from './jobs.ts'
import type { Transport } from './http/transport.ts'
import type { JobView, LogEntry, Progress } from './http/wire.ts'

/** In the order of time; the end is last, with `job.result` or `job.error`. */
export type JobEvent =
  | { type: 'log', entry: LogEntry }
  | { type: 'progress', progress: Progress }
  | { type: 'state', job: JobView }
  | { type: 'end', job: JobView }

/** How a job is followed. */
export interface FollowOptions {
  /** The id of the last line of the log that is known already. */
  after?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * Follows a job to its end, over broken connections and restarts of the service, without a gap in its log.
 *
 * @throws ToolyardError `NOT_FOUND` for a job that doesn't exist (any more).
 */
export async function * follow (transport: Transport, id: string, { after, signal }: FollowOptions): AsyncGenerator<JobEvent> {
  let shown = ''
  let job: JobView | undefined
  for await (const { name, data } of transport.events(`/v1/jobs/${pathSegment(id)}/stream`, signal, after)) {
    if (name === 'log_append') yield { type: 'log', entry: transport.read<LogEntry>(data, { ts: text, level: text, message: text }) }
    if (name === 'progress') yield { type: 'progress', progress: transport.read<{ progress: Progress }>(data, { progress: record({}) }).progress }
    // A stream that is opened again begins with the job as it is.
    if (name === 'job_update' && data !== shown) {
      shown = data
      job = transport.read<{ job: JobView }>(data, { job: jobShape }).job
      yield { type: 'state', job }
    }
    if (name !== 'end') continue
    if (job === undefined || transport.read<{ reason: string }>(data, {}).reason === 'deleted') throw new ToolyardError('NOT_FOUND', `Job ${id} is no longer kept`)
    yield { type: 'end', job }
    return
  }
}
