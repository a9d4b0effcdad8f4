import type { WaitOptions } from './jobs.ts'
import { pathSegment } from './http/path-segment.ts'
import { list, record, text } from './http/shape.ts'
import type { Transport } from './http/transport.ts'
import type { ApprovalView } from './http/wire.ts'

/** Who asks for what, in a held call. */
export interface HeldCall {
  job_id: string
  tool: string
  type: string
  queue: string
  /** The name of the API key that submitted the call. */
  key: string | null
  tenant: string | null
  session: string | null
  conversation: string | null
  /** The workflow that it is a step of. */
  parent_id?: string
  submitted_at: string
  /** Of the job. */
  status: string
  approval: ApprovalView
}

/** A held call in a list. */
export interface ApprovalItem extends HeldCall {
  /** The first characters of the JSON of its arguments. */
  arguments_preview: string
}

export interface ApprovalList { ok: true, approvals: ApprovalItem[], count: number, next_cursor: string | null }

/** A held call, whole. */
export interface ApprovalDetail extends HeldCall {
  /** As they will be handed over, with defaults. */
  arguments: unknown
  version: string | null
  program_sha256: string | null
  /** The call of this tool that was approved before. */
  previous: { job_id: string, arguments: unknown } | null
}

const approvalShape = record({ job_id: text, tool: text, status: text, approval: record({ state: text, digest: text }) })

/** Which held calls a list shall have. */
export interface ApprovalQuery {
  tool?: string | undefined
  /** The name of the API key that submitted it. */
  key?: string | undefined
  /** Of this tenant; for keys that see those of all. */
  tenant?: string | undefined
  /** 1 to 200; 50 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before, with the same query. */
  cursor?: string | undefined
}

/** A decision about what was shown. */
export interface DecisionOptions extends WaitOptions {
  /** `approval.digest` of what was looked at. */
  digest: string
  /** For the model, where the call is denied. */
  reason?: string | undefined
}

/**
 * Calls that wait for a person, for keys with the role `approver` or `admin` that didn't submit them. All methods throw a
 * ToolyardError.
 */
export class Approvals {
  readonly #transport: Transport

  constructor (transport: Transport) {
    this.#transport = transport
  }

  /** A page of held calls, newest first. */
  async list (query: ApprovalQuery = {}, { signal }: WaitOptions = {}): Promise<ApprovalList> {
    return await this.#transport.send<ApprovalList>({ method: 'GET', path: '/v1/approvals', query: { ...query }, signal }, { approvals: list(approvalShape) })
  }

  /** The call with the digest that a decision comes with. */
  async get (jobId: string, { signal }: WaitOptions = {}): Promise<ApprovalDetail> {
    const answer = await this.#transport.send<{ approval: ApprovalDetail }>({ method: 'GET', path: pathOf(jobId), signal }, { approval: approvalShape })
    return answer.approval
  }

  /** Lets a held call run. @throws ToolyardError `CONFLICT` when it is another call by now, or was decided about. */
  async approve (jobId: string, options: DecisionOptions): Promise<ApprovalDetail> {
    return await this.#decide(jobId, 'approve', options)
  }

  /** Ends a held call without running it. @throws ToolyardError `CONFLICT` as for `approve`. */
  async deny (jobId: string, options: DecisionOptions): Promise<ApprovalDetail> {
    return await this.#decide(jobId, 'deny', options)
  }

  async #decide (jobId: string, decision: 'approve' | 'deny', { digest, reason, signal }: DecisionOptions): Promise<ApprovalDetail> {
    const answer = await this.#transport.send<{ approval: ApprovalDetail }>({
      method: 'POST', path: pathOf(jobId), body: { decision, digest, ...(reason === undefined ? {} : { reason }) }, signal
    }, { approval: approvalShape })
    return answer.approval
  }
}

function pathOf (jobId: string): string {
  return `/v1/approvals/${pathSegment(jobId)}`
}
