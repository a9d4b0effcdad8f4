import { callErrors, permissionsBeyond, type CallError, type PermissionPolicy } from '@toolyard/contract'
import type { Executors, Outcome } from '@toolyard/executors'
import type { Registry, Tool } from '@toolyard/manifests'
import type { ClaimedJob, HandlerResult, JobTypeTable } from '@toolyard/queue'
import type { Logger } from '@toolyard/runtime'

/** What a job is handled with. */
export interface HandlerDeps {
  /** The registry of now: it may be replaced while jobs run. */
  registry: () => Registry
  /** The job types that were switched. */
  jobTypes: JobTypeTable
  executors: Executors
  permissions: PermissionPolicy
  logger: Logger
  /** Hides secrets in a line before it goes into the job's log. */
  mask: (line: string) => string
}

/** Makes the function that turns a taken job into its end. */
export function createHandler (deps: HandlerDeps): (job: ClaimedJob) => Promise<HandlerResult> {
  return async job => {
    const logger = deps.logger.child({ jobId: job.id, tool: job.data.tool, queue: job.queue })
    const startedAt = performance.now()
    const result = await handle(job, deps, logger)
    const ms = Math.round(performance.now() - startedAt)
    if (result.ok) logger.info({ ms }, 'job succeeded')
    else if ('requeue' in result) logger.warn({ ms }, 'job goes back to its queue')
    else logger.info({ ms, code: result.error.code }, 'job failed')
    return result
  }
}

async function handle (job: ClaimedJob, deps: HandlerDeps, logger: Logger): Promise<HandlerResult> {
  // The registry may have changed since the API looked.
  const registered = deps.registry().get(job.data.tool)
  if (registered === undefined) return failure('UNKNOWN_TOOL', `Tool '${job.data.tool}' not found in registry`)
  const { tool } = registered
  if (job.lostBefore && !tool.idempotent) return failure('WORKER_LOST', 'The worker that ran this job was lost; the tool is not idempotent and is not run again')
  if (!(deps.jobTypes.get(tool.jobType).enabled ?? tool.enabled)) return failure('JOB_TYPE_DISABLED', `Job type '${tool.jobType}' is disabled`)
  const beyond = permissionsBeyond(tool.permissions, deps.permissions)
  if (beyond.length > 0) return failure('FORBIDDEN', `Tool '${tool.name}' needs permissions that this worker does not allow: ${beyond.join(', ')}`)
  const checked = registered.validate(job.data.arguments)
  if (!checked.ok) return { ok: false, error: { code: 'INVALID_ARGUMENTS', message: 'Arguments do not fit the schema', details: { issues: checked.issues } } }
  try {
    const outcome = await deps.executors.run(tool, checked.arguments, {
      jobId: job.id,
      keyName: job.data.keyName,
      timeoutMs: job.data.timeoutSec * 1_000,
      signal: job.signal,
      log: line => { job.log({ level: 'info', message: deps.mask(line) }) }
    })
    return toResult(outcome, tool)
  } catch (error) {
    logger.error({ err: error }, 'executor failed')
    return { ...failure('INTERNAL', 'The service met a fault while it ran the tool; the log of the worker has it under this job'), retry: true }
  }
}

function toResult (outcome: Outcome, tool: Tool): HandlerResult {
  if (outcome.ok) return { ok: true, json: JSON.stringify(outcome.output), ...(outcome.cut === undefined ? {} : { cut: outcome.cut }) }
  if (outcome.error.code === 'WORKER_LOST' && tool.idempotent) return { ok: false, requeue: true }
  return { ok: false, error: outcome.error, retry: mayPass(outcome.error) }
}

/**
 * Whether another run could end differently (X26). More than one attempt is the submitter's or the operator's consent
 * to run a tool again that failed; a tool whose worker was lost may have done its work, and is never run again for that.
 */
function mayPass ({ code }: CallError): boolean {
  return callErrors[code].retryable && code !== 'WORKER_LOST'
}

function failure (code: CallError['code'], message: string): { ok: false, error: CallError } {
  return { ok: false, error: { code, message } }
}
