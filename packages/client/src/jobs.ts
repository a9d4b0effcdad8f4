import { ToolyardError } from './http/errors.ts'
import { newKey } from './http/key.ts'
import { pathSegment } from './http/path-segment.ts'
import { list, record, text } from './http/shape.ts'
import type { Transport } from './http/transport.ts'
import type { JobList, JobState, JobView, LogEntry, NewJob } from './http/wire.ts'

export const jobShape = record({ id: text, status: text, tool: text, queue: text, created_at: text })

/** Which jobs a list shall have. */
export interface JobQuery {
  status?: JobState | undefined
  type?: string | undefined
  queue?: string | undefined
  tag?: string | undefined
  tool?: string | undefined
  /** The name of the API key that submitted it. */
  key?: string | undefined
  /** The code of its error. */
  code?: string | undefined
  /** The id of the worker that ran it last. */
  worker?: string | undefined
  /** In its arguments or its error. */
  text?: string | undefined
  /** The session whose files were its workspace. */
  session?: string | undefined
  /** The id of the request that made it: jobs of one batch have the same. */
  request?: string | undefined
  /** Of this tenant; for keys that see the jobs of all. */
  tenant?: string | undefined
  /** Created then or later, and then or earlier; ISO 8601. */
  from?: string | undefined
  to?: string | undefined
  /** By when they were created; `newest` when absent. */
  order?: 'newest' | 'oldest' | undefined
  /** Whether each job has the beginning of its arguments. */
  preview?: 'true' | 'false' | undefined
  /** 1 to 200; 50 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before, with the same query. */
  cursor?: string | undefined
}

/** How long a caller waits. */
export interface WaitOptions {
  signal?: AbortSignal | undefined
}

/** How a job is submitted. */
export interface SubmitOptions extends WaitOptions {
  /** The same key gives the same job for 24 hours; a new one when absent. */
  idempotencyKey?: string | undefined
}

/** The jobs of a service. All methods throw a ToolyardError. */
export class Jobs {
  readonly #transport: Transport

  constructor (transport: Transport) {
    this.#transport = transport
  }

  /** Submits one job and doesn't wait for it. */
  async submit (job: NewJob, { idempotencyKey = newKey(), signal }: SubmitOptions = {}): Promise<JobView> {
    const answer = await this.#transport.send<{ job: JobView }>({
      method: 'POST', path: '/v1/jobs', body: job, headers: { 'idempotency-key': idempotencyKey }, signal
    }, { job: jobShape })
    return answer.job
  }

  /** One job, with its whole result. */
  async get (id: string, { signal }: WaitOptions = {}): Promise<JobView> {
    const answer = await this.#transport.send<{ job: JobView }>({ method: 'GET', path: pathOf(id), signal }, { job: jobShape })
    return answer.job
  }

  /** A page of jobs, newest first unless `order` says otherwise. */
  async list (query: JobQuery = {}, { signal }: WaitOptions = {}): Promise<JobList> {
    const answer = await this.#transport.send<JobList>({ method: 'GET', path: '/v1/jobs', query: { ...query }, signal }, { jobs: list(jobShape) })
    return answer
  }

  /** The last lines of a job's log, the oldest first. */
  async logs (id: string, { tail, signal }: WaitOptions & { tail?: number } = {}): Promise<LogEntry[]> {
    const answer = await this.#transport.send<{ logs: LogEntry[] }>({ method: 'GET', path: pathOf(id, '/logs'), query: { tail }, signal }, { logs: list(record({ ts: text, level: text, message: text })) })
    return answer.logs
  }

  /** Cancels a job. @throws ToolyardError `CONFLICT` when it has finished. */
  async cancel (id: string, { signal }: WaitOptions = {}): Promise<JobView> {
    try {
      const answer = await this.#transport.send<{ job: JobView }>({ method: 'POST', path: pathOf(id, '/cancel'), signal }, { job: jobShape })
      return answer.job
    } catch (error) {
      // A cancel whose answer was lost, and that was sent again.
      if (!(error instanceof ToolyardError) || error.code !== 'CONFLICT') throw error
      const job = await this.get(id, { signal })
      if (job.status !== 'cancelled') throw error
      return job
    }
  }

  /**
   * Answers what the tool of a job asks; `number` is that of the question, the one that is asked now when absent.
   *
   * @throws ToolyardError `VALIDATION_ERROR` for what doesn't fit its schema, `CONFLICT` when it was answered otherwise, or asks nothing.
   */
  async answer (
    id: string, answer: Record<string, unknown>, { number, signal }: WaitOptions & { number?: number | undefined } = {}
  ): Promise<JobView> {
    // Without a number, an answer that is sent again would answer what the tool asks next.
    const job = number === undefined ? await this.get(id, { signal }) : undefined
    const asked = number ?? job?.question?.number
    if (asked === undefined) throw new ToolyardError('CONFLICT', `The job asks nothing: it is ${job?.status}`)
    const response = await this.#transport.send<{ job: JobView }>({
      method: 'POST', path: pathOf(id, '/answer'), body: { answer, number: asked }, signal
    }, { job: jobShape })
    return response.job
  }

  /** Lets a job run now that waits for its time. @throws ToolyardError `CONFLICT` when it does not wait for one. */
  async promote (id: string, { signal }: WaitOptions = {}): Promise<JobView> {
    await this.#transport.change<{ job: JobView }>({ method: 'POST', path: pathOf(id, '/promote'), signal }, { job: jobShape }, 'CONFLICT')
    return await this.get(id, { signal })
  }

  /** Removes a job that has ended, with its output and its log. @throws ToolyardError `CONFLICT` when it has not. */
  async remove (id: string, { signal }: WaitOptions = {}): Promise<void> {
    await this.#transport.change<{ id: string }>({ method: 'DELETE', path: pathOf(id), signal }, { id: text }, 'NOT_FOUND')
  }
}

function pathOf (id: string, rest = ''): string {
  return `/v1/jobs/${pathSegment(id)}${rest}`
}
