import { HttpError, type CallError, type JobRequest } from '@toolyard/contract'
import { admitCall, type Refusal } from '@toolyard/manifests'
import type { JobReader, NewJob, ReadJob } from '@toolyard/queue'
import { JobsUnknownError, RedisUnavailableError } from '@toolyard/store'
import type { Tracer } from '@toolyard/runtime/traces'
import type { JobTypes } from '../catalog/job-types.ts'
import type { RequestOrigin } from '../plugins/request-trace.ts'
import type { Principal } from '../access/principal.ts'
import type { SessionAccess } from '../access/session-access.ts'
import type { ToolCatalog } from '../catalog/tool-catalog.ts'
import type { CallbackAccess } from './callback-access.ts'
import { redisFull, noLongerKept, type JobAdmission } from './job-admission.ts'
import { findDependencies, splitDependencies } from './job-dependencies.ts'
import { CallTraces, withOrigin } from './call-traces.ts'
import { NearTools } from './near-tools.ts'
import { accessOf, askerOf, jobToHold, newJob } from './new-job.ts'
import { idempotentRequest } from './idempotency.ts'

const unknownType = "Unknown or disabled 'type'"

export interface JobSubmitterDeps {
  catalog: ToolCatalog
  jobTypes: JobTypes
  admission: JobAdmission
  jobs: JobReader
  keyPartOf: (principal: Principal) => string
  checkCallback: CallbackAccess
  checkSession: SessionAccess
  tracer?: Tracer | undefined
}

/** Who submits a job. */
export interface Submitter {
  principal: Principal
  idempotencyKey: string | undefined
  origin: RequestOrigin | undefined
}

/** Submits single jobs by their type. */
export class JobSubmitter {
  readonly #deps: JobSubmitterDeps

  constructor (deps: JobSubmitterDeps) {
    this.#deps = deps
  }

  /**
   * Makes the job, or finds the one that an earlier request with the same `Idempotency-Key` made.
   *
   * @throws HttpError for a type, queue or input that can't be; RedisUnavailableError.
   */
  async submit (request: JobRequest, submitter: Submitter): Promise<{ job: ReadJob, idempotent: boolean }> {
    this.#deps.checkCallback(request.callbackUrl)
    await this.#deps.checkSession(request.session, submitter.principal)
    const traces = new CallTraces(this.#deps.tracer, submitter.origin)
    const at = performance.now()
    const plan = await this.#plan(request, submitter.principal)
    const refused = plan instanceof HttpError
    const origin = traces.begin(0, { callId: '', name: refused ? request.type : plan.data.tool, at, ...(refused ? { error: plan } : {}) })
    try {
      const submitted = await this.#admit(request, refused ? plan : withOrigin(plan, origin), submitter)
      traces.answered(0, { ok: true, job_id: submitted.job.view.id })
      return submitted
    } catch (error) {
      traces.failed(error)
      throw error
    }
  }

  async #admit (
    request: JobRequest, planned: NewJob | HttpError, { principal, idempotencyKey }: Submitter
  ): Promise<{ job: ReadJob, idempotent: boolean }> {
    // What the key may not do now, it may not do by an earlier request either.
    if (planned instanceof HttpError && planned.code === 'FORBIDDEN') throw planned
    const idempotent = await idempotentRequest(idempotencyKey, principal, ['job', request])
    const { admission, jobs } = this.#deps
    const reservation = await admission.reserve(request.queue, planned instanceof HttpError ? [] : [{ job: planned }], idempotent)
    // What couldn't be made now may have been made before.
    if (planned instanceof HttpError && !reservation.repeated) throw planned
    const [admitted] = await admission.admit(reservation)
    if (admitted === undefined) throw new Error('A reservation without a job')
    if ('error' in admitted) throw toHttpError(admitted.error)
    const job = await jobs.read(request.queue, admitted.job.id).catch(orMade)
    if (job === undefined) throw noLongerKept(admitted.job.id)
    return { job, idempotent: reservation.repeated }
  }

  async #plan (request: JobRequest, principal: Principal): Promise<NewJob | HttpError> {
    const { catalog, jobTypes } = this.#deps
    // People know tools by their names; the kind in front of a job type is for operators.
    const registered = catalog.registry.ofType(request.type) ?? catalog.registry.get(request.type)
    const { input, dependsOn } = splitDependencies(request, registered?.tool)
    const type = registered?.tool.jobType ?? request.type
    const { queue, timeoutSec, maxAttempts, tags, priority, delayMs, callbackUrl } = request
    const asks = askerOf(principal, request.session, request.conversation)
    const admitted = await admitCall({ type, registered, queue, key: accessOf(principal), asks }, input, jobTypes.deployment)
    if ('error' in admitted) return admitted.error.code === 'UNKNOWN_TOOL' ? await this.#unknownType(type, principal) : refused(admitted.error)
    const keyPart = this.#deps.keyPartOf(principal)
    const job = newJob(admitted.registered, {
      id: this.#deps.admission.newId(),
      arguments: admitted.arguments,
      principal,
      keyPart,
      session: request.session,
      jobTypes,
      tags,
      timeoutSec,
      maxAttempts,
      priority,
      delayMs,
      callbackUrl,
      conversation: request.conversation,
      dependsOn: await findDependencies(this.#deps.jobs, dependsOn, principal)
    })
    return admitted.hold === undefined ? job : await jobToHold(job, admitted.hold, admitted.registered, keyPart)
  }

  async #unknownType (type: string, principal: Principal): Promise<HttpError> {
    const isType = type.includes('.')
    const { visible } = this.#deps.catalog.publication(principal)
    const known = visible.map(({ name, jobType }) => ({ jobType, called: isType ? withoutKind(jobType) : name }))
    const names = await new NearTools(() => known.map(({ called }) => called)).find(withoutKind(type))
    const near = known.filter(({ called }) => names.includes(called)).map(({ jobType }) => jobType)
    return new HttpError('VALIDATION_ERROR', unknownType, near.length === 0 ? undefined : { did_you_mean: near })
  }
}

/** All types of a kind begin alike, which makes none of them near. */
function withoutKind (type: string): string {
  return type.slice(type.indexOf('.') + 1)
}

/** A refusal as `POST /v1/jobs` answers it. */
function refused ({ code, message, details }: Refusal): HttpError {
  if (code === 'UNKNOWN_TOOL' || code === 'JOB_TYPE_DISABLED') return new HttpError('VALIDATION_ERROR', unknownType)
  if (code === 'TOOL_UNAVAILABLE') return new HttpError('CONFLICT', message)
  if (code === 'POLICY_DENIED') return new HttpError('FORBIDDEN', message, { code, ...details })
  return new HttpError(code === 'FORBIDDEN' ? code : 'VALIDATION_ERROR', message, details)
}

/** The job exists, though it can't be read now. */
function orMade (error: unknown): never {
  throw error instanceof RedisUnavailableError ? new JobsUnknownError(error) : error
}

/** A job of its own has no sibling to be served: what would be embedded in a batch ends the request. */
function toHttpError ({ code, message, details }: CallError): HttpError {
  return new HttpError(code === 'QUEUE_FULL' && details !== redisFull ? 'RATE_LIMITED' : 'UNAVAILABLE', message)
}
