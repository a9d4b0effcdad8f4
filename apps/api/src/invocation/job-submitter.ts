import { HttpError, isRecord, type CallError, type JobRequest, readDependsOn, type JobDependency } from '@toolyard/contract'
import { admitCall, type Tool } from '@toolyard/manifests'
import type { JobReader, ReadJob } from '@toolyard/queue'
import { JobsUnknownError, RedisUnavailableError, jobIdPattern } from '@toolyard/store'
import type { Tracer } from '@toolyard/runtime/traces'
import type { JobTypes } from '../catalog/job-types.ts'
import type { RequestOrigin } from '../plugins/request-trace.ts'
import { type Principal, scopeOf } from '../access/principal.ts'
import type { SessionAccess } from '../access/session-access.ts'
import type { ToolCatalog } from '../catalog/tool-catalog.ts'
import type { CallbackAccess } from './callback-access.ts'
import { redisFull, noLongerKept, type CallState, type Candidate, type JobAdmission } from './job-admission.ts'
import { CallTrace } from './call-trace.ts'
import { NearTools } from './near-tools.ts'
import { accessOf, askerOf, jobToHold, newJob } from './new-job.ts'
import { idempotentRequest } from './idempotency.ts'

const unknownType = "Unknown or disabled 'type'"

interface JobSubmitterDeps {
  catalog: ToolCatalog
  jobTypes: JobTypes
  admission: JobAdmission
  jobs: JobReader
  keyPartOf: (principal: Principal) => string
  checkCallback: CallbackAccess
  checkSession: SessionAccess
  tracer?: Tracer | undefined
}

interface Submitter {
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
    const { origin, principal } = submitter
    const at = performance.now()
    const candidate: Candidate = { state: await this.#plan(request, principal) }
    const { state } = candidate
    const trace = origin && new CallTrace(this.#deps.tracer, origin, {
      callId: '', name: state.kind === 'planned' ? state.job.data.tool : request.type, at, error: state.kind === 'refused' ? state.error : undefined
    })
    if (trace !== undefined && state.kind === 'planned') state.job.data.origin = trace.origin
    try {
      const submitted = await this.#admit(request, candidate, submitter)
      trace?.answered({ kind: 'accepted', jobId: submitted.job.view.id })
      return submitted
    } catch (error) {
      trace?.failed(error)
      throw error
    }
  }

  async #admit (
    request: JobRequest, candidate: Candidate, { principal, idempotencyKey }: Submitter
  ): Promise<{ job: ReadJob, idempotent: boolean }> {
    const { state: planned } = candidate
    // A call that the key may not make now, it may not make by an earlier request either.
    if (planned.kind === 'refused' && planned.error.code === 'FORBIDDEN') throw toHttpError(planned.error)
    const idempotent = await idempotentRequest(idempotencyKey, principal, ['job', request])
    const { admission, jobs } = this.#deps
    const reservation = await admission.reserve(request.queue, [candidate], idempotent)
    await admission.admit(reservation, [candidate])
    const { state } = candidate
    // A job that can't be made now may have been made before.
    if (state.kind === 'refused') throw toHttpError(state.error)
    if (state.kind !== 'made') throw new Error('A job was neither made nor refused')
    const job = await jobs.read(request.queue, state.job.id).catch(orMade)
    if (job === undefined) throw noLongerKept(state.job.id)
    return { job, idempotent: reservation.repeated }
  }

  async #plan (request: JobRequest, principal: Principal): Promise<CallState> {
    const { catalog, jobTypes } = this.#deps
    // People know tools by their names; the kind in front of a job type is for operators.
    const registered = catalog.registry.ofType(request.type) ?? catalog.registry.get(request.type)
    const { input, dependsOn } = splitDependencies(request, registered?.tool)
    const type = registered?.tool.jobType ?? request.type
    const { queue, timeoutSec, maxAttempts, tags, priority, delayMs, callbackUrl } = request
    const asks = askerOf(principal, request.session, request.conversation)
    const access = accessOf(principal)
    const admitted = await admitCall({ type, registered, queue, key: access, asks }, input, jobTypes.deployment)
    if (admitted.kind === 'refused') return admitted.error.code === 'UNKNOWN_TOOL' ? await this.#unknownType(type, principal) : admitted
    const keyPart = this.#deps.keyPartOf(principal)
    const job = newJob(admitted.registered, this.#deps.admission.newId(), admitted.arguments, {
      principal,
      access,
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
    return { kind: 'planned', job: admitted.hold === undefined ? job : await jobToHold(job, admitted.hold, admitted.registered, keyPart) }
  }

  async #unknownType (type: string, principal: Principal): Promise<CallState> {
    const isType = type.includes('.')
    const { visible } = this.#deps.catalog.publication(principal)
    const known = visible.map(({ name, jobType }) => ({ jobType, called: isType ? withoutKind(jobType) : name }))
    const names = await new NearTools(() => known.map(({ called }) => called)).find(withoutKind(type))
    const near = known.filter(({ called }) => names.includes(called)).map(({ jobType }) => jobType)
    return { kind: 'refused', error: { code: 'UNKNOWN_TOOL', message: unknownType, details: near.length === 0 ? undefined : { did_you_mean: near } } }
  }
}

/** All types of a kind begin alike, which makes none of them near. */
function withoutKind (type: string): string {
  return type.slice(type.indexOf('.') + 1)
}

/** The job exists, though it can't be read now. */
function orMade (error: unknown): never {
  throw error instanceof RedisUnavailableError ? new JobsUnknownError(error) : error
}

/** A job of its own has no sibling to be served: what would be embedded in a batch ends the request. */
function toHttpError ({ code, message, details }: CallError): HttpError {
  const known = isRecord(details) ? details : undefined
  switch (code) {
    case 'UNKNOWN_TOOL':
    case 'JOB_TYPE_DISABLED': return new HttpError('VALIDATION_ERROR', unknownType, known)
    case 'INVALID_ARGUMENTS': return new HttpError('VALIDATION_ERROR', message, known)
    case 'TOOL_UNAVAILABLE': return new HttpError('CONFLICT', message)
    case 'FORBIDDEN': return new HttpError(code, message, known)
    case 'POLICY_DENIED': return new HttpError('FORBIDDEN', message, { code, ...known })
    case 'QUEUE_FULL': return new HttpError(details === redisFull ? 'UNAVAILABLE' : 'RATE_LIMITED', message)
    default: return new HttpError('UNAVAILABLE', message)
  }
}

const field = 'depends_on'

/**
 * Takes `depends_on` out of a job's input, where it is no parameter of the tool.
 *
 * @returns the tool's arguments, and the ids that were sent in either place, each once.
 * @throws HttpError `VALIDATION_ERROR`
 */
function splitDependencies (
  { input, dependsOn }: JobRequest, tool: Tool | undefined
): { input: Record<string, unknown>, dependsOn: string[] } {
  const properties = tool?.parameters['properties']
  const isParameter = typeof properties === 'object' && properties !== null && Object.hasOwn(properties, field)
  if (isParameter || !Object.hasOwn(input, field)) return { input, dependsOn: [...new Set(dependsOn)] }
  const { [field]: ids, ...rest } = input
  return { input: rest, dependsOn: [...new Set([...dependsOn, ...readDependsOn(ids)])] }
}

/**
 * Finds the queues of the jobs that a job depends on. One that the key may not see is as missing as one that isn't there.
 *
 * @throws RedisUnavailableError
 */
async function findDependencies (jobs: JobReader, ids: readonly string[], principal: Principal): Promise<JobDependency[]> {
  return await Promise.all(ids.map(async id => {
    const queue = jobIdPattern.test(id) ? await jobs.queueOf(id, scopeOf(principal)) : undefined
    return queue === undefined ? { id } : { id, queue }
  }))
}
