import { setImmediate as turn } from 'node:timers/promises'
import { asError, callErrors, errorCode, limits, writeJson, type CallError } from '@toolyard/contract/terms'
import type { SandboxState, TraceContext } from '@toolyard/contract'
import type { Executors, Outcome, Sandbox, Success, WorkflowSteps } from '@toolyard/executors'
import { admitCall, holdsAtMost, isIdempotent, makesJobs, toolOfCall, type AnswerSchemas, type Deployment, type Tool } from '@toolyard/manifests'
import { isShortage, shortageOf } from '@toolyard/sandbox'
import { approvedOnce, argumentsOf, notRunAgain, toolGone, type TakenJob, type HandlerResult } from '@toolyard/queue'
import { mayRedisTakeItLater, ownerOf, ReplicasMissingError, type CallCounter, type JobTypeTable } from '@toolyard/store'
import type { JobMetrics, Logger } from '@toolyard/runtime'
import { maskError } from './secret-mask.ts'
import type { Tracer } from '@toolyard/runtime/traces'
import { JobTrace, originContext, originIds, runTrace } from './job-trace.ts'
import { askedBack } from './asked-back.ts'
import { mostOfCall } from './shortages.ts'
import { changedSince } from './changed-since.ts'
import type { RefusedSession, SessionWorkspace, SessionWorkspaces } from './session-workspaces.ts'
import type { ToolVersions } from './tool-versions.ts'

/** Values of arguments that take a turn of the event loop by themselves. */
const turnValues = 2_000
/** The code of a thread that did not start. */
const threadFailed = 'ERR_WORKER_INIT_FAILED'

interface HandlerDeps extends Deployment {
  /** The tools of now: they may be replaced while jobs run. */
  tools: Pick<ToolVersions, 'locate'>
  /** The job types that were switched. */
  jobTypes: JobTypeTable
  executors: Executors
  stepsOf: (job: TakenJob, trace: TraceContext | undefined) => WorkflowSteps
  /** How well the processes of a tool are shut in. */
  sandbox: Pick<Sandbox, 'stateOf' | 'levelOf' | 'permissionsOf'>
  sessions: SessionWorkspaces
  /** The current bounds of the key of a name: see `keyPart`. */
  keyPartOf: (name: string) => Promise<string>
  answerSchemas: AnswerSchemas
  /** Hears of calls that could not be started. */
  shortages: { met: (what: string, jobId: string) => boolean }
  logger: Logger
  metrics: JobMetrics
  /** Counts the runs that ended, for `GET /v1/stats`. */
  counter: Pick<CallCounter, 'count'>
  /** Hides secrets in what a tool printed before it goes into the job's log or error. */
  mask: (line: string) => string
  /** Undefined without traces. */
  tracer?: Tracer | undefined
}

export function createHandler (deps: HandlerDeps): (job: TakenJob) => Promise<HandlerResult> {
  return async job => {
    // No child of the logger: for one or two lines it costs more than they do.
    const logger = deps.logger
    const about = { jobId: job.id, tool: job.data.tool, queue: job.queue, ...originIds(job.data.origin) }
    const trace = deps.tracer === undefined ? undefined : new JobTrace(deps.tracer, job)
    const startedAt = performance.now()
    deps.metrics.taken()
    const usage = { processorMs: 0 }
    const result = await handle(job, deps, { about, trace, usage })
    trace?.end(result)
    const ranMs = performance.now() - startedAt
    const ms = Math.round(ranMs)
    deps.metrics.ended({
      tool: job.data.tool,
      tenant: job.data.tenant,
      queue: job.queue,
      ...stateOf(result),
      waitedSec: job.waitedMs === undefined ? undefined : job.waitedMs / 1_000,
      ranSec: ranMs / 1_000
    })
    count(deps.counter, job, result, { ranMs, ...usage })
    log(result, logger, { ...about, ms })
    return result
  }
}

function log (result: HandlerResult, logger: Logger, about: object): void {
  switch (result.kind) {
    case 'succeeded': return logger.info(about, 'job succeeded')
    case 'failed': return logger.info({ ...about, code: result.error.code }, 'job failed')
    case 'waits': return logger.debug(about, 'job waits for its steps')
    case 'later': return logger.info({ ...about, reason: result.reason }, 'job is put off')
    case 'held': return logger.info({ ...about, reason: result.held.changed }, 'job is held again')
    case 'asks': return logger.info(about, 'job waits for an answer')
    case 'taken': return logger.warn(about, 'job is another worker\'s by now')
    case 'requeued': return logger.warn(about, 'job goes back to its queue')
  }
}

/** A job that goes back to its queue has not ended. */
function count (counter: Pick<CallCounter, 'count'>, job: TakenJob, result: HandlerResult, ran: { ranMs: number, processorMs: number }): void {
  const { state } = stateOf(result)
  if (state === 'requeued') return
  const { tool, keyName, tenant } = job.data
  const outputBytes = result.kind === 'succeeded' ? result.cut?.bytes ?? Buffer.byteLength(result.json) : 0
  counter.count({ tool, queue: job.queue, keyName, tenant, state, ...ran, waitedMs: job.waitedMs, outputBytes })
}

function stateOf (result: HandlerResult): { state: 'succeeded' | 'failed' | 'cancelled' | 'requeued', code: string } {
  if (result.kind === 'succeeded') return { state: 'succeeded', code: '' }
  if (result.kind !== 'failed') return { state: 'requeued', code: '' }
  return { state: result.error.code === 'JOB_CANCELLED' ? 'cancelled' : 'failed', code: result.error.code }
}

async function handle (
  job: TakenJob, deps: HandlerDeps, { about, trace, usage }: { about: object, trace: JobTrace | undefined, usage: { processorMs: number } }
): Promise<HandlerResult> {
  // Until a tool begins that may run only once.
  const run = { mayRepeat: true }
  try {
    return await runTool(job, deps, { run, trace, usage })
  } catch (error) {
    const isUnknownToReplicas = error instanceof ReplicasMissingError
    if (isUnknownToReplicas) deps.logger.warn({ ...about, err: error }, 'a tool that may run only once is not run now')
    if (isUnknownToReplicas || (mayRedisTakeItLater(error) && run.mayRepeat)) {
      // A workflow does nothing twice: it goes on when Redis is back, or has room again.
      return { kind: 'later', reason: asError(error).message, nowhere: true }
    }
    if (isShortage(error) && (run.mayRepeat || errorCode(error) === threadFailed)) return putOff(errorCode(error) ?? '', job.id, deps)
    deps.logger.error({ ...about, err: error }, 'executor failed')
    return { ...failure('INTERNAL', 'The service met a fault while it ran the tool; the log of the worker has it under this job'), retry: true }
  }
}

interface RunParts {
  run: { mayRepeat: boolean }
  trace: JobTrace | undefined
  usage: { processorMs: number }
}

async function runTool (job: TakenJob, deps: HandlerDeps, { run, trace, usage }: RunParts): Promise<HandlerResult> {
  const located = await deps.tools.locate(job)
  if (located === 'elsewhere') return { kind: 'later', reason: 'another worker has its version of the tool' }
  const { registered, differs } = located
  const idempotent = registered !== undefined && isIdempotent(registered.tool, deps)
  // A workflow goes on where it was: it does nothing twice.
  const mayRepeat = idempotent && (job.data.hold === undefined || makesJobs(registered.tool))
  if (job.lostBefore && !mayRepeat) return failure('WORKER_LOST', registered === undefined ? toolGone : idempotent ? approvedOnce : notRunAgain)
  // Large arguments were parsed in this turn of the event loop; what follows takes its time too.
  if (!holdsAtMost(job.data.arguments, turnValues)) await turn()
  const args = await argumentsOf(job.data)
  const { tool: name, keyPermissions: permissions, keyHosts: hosts, tenant } = job.data
  const admitted = await admitCall({ tool: name, registered, key: { permissions, hosts, tenant } }, args, deps)
  const note = differs ? " (the worker's manifests are not those that the call was taken with)" : ''
  if (admitted.kind === 'refused') return { kind: 'failed', error: { ...admitted.error, message: `${admitted.error.message}${note}` } }
  const tool = toolOfCall(admitted.registered.tool, admitted.arguments)
  let workspace: SessionWorkspace | undefined
  try {
    const enteredAt = performance.now()
    const entered = await enterSession(job, tool, deps)
    if (entered?.kind === 'refused') return { kind: 'failed', error: entered.error }
    workspace = entered
    // Not before the session is ready, which may take seconds: what is replaced meanwhile wasn't approved.
    const changed = job.data.hold === undefined ? undefined : await changedSince(job, admitted.registered, deps.keyPartOf)
    if (changed !== undefined) return { kind: 'held', held: changed }
    const timeoutMs = job.data.timeoutSec * 1_000
    // To count the files of a large session takes seconds of the call's time.
    const usedMs = Math.floor((performance.now() - enteredAt) / 1_000) * 1_000
    // That an approved call has run must not be forgotten either, or it could be denied later.
    if ((!idempotent || job.data.hold !== undefined) && !await job.begin()) return { kind: 'taken' }
    run.mayRepeat = mayRepeat
    const context = trace === undefined ? originContext(job) : trace.begin(deps.sandbox.stateOf(tool))
    const outcome = await deps.executors.run(tool, admitted.arguments, {
      jobId: job.id,
      keyName: job.data.keyName,
      tenant: job.data.tenant,
      timeoutMs: Math.max(1, timeoutMs - usedMs),
      signal: workspace?.signal ?? job.signal,
      ...(workspace === undefined ? {} : { session: workspace.place }),
      answers: job.answers,
      memo: job.memo,
      steps: deps.stepsOf(job, context),
      ...runTrace(context, trace?.stage),
      log: line => { job.log({ level: 'info', message: deps.mask(line) }) },
      progress: latest => { job.progress(() => ({ ...latest, text: latest.text === null ? null : deps.mask(latest.text) })) },
      used: ms => { usage.processorMs += ms }
    })
    const shortage = outcome.ok ? undefined : shortageOf(outcome.error)
    if (shortage !== undefined) return putOff(shortage, job.id, deps)
    const ended = await workspace?.settled(outcome, tool, job.id) ?? outcome
    const asked = await askedBack(ended, {
      tool, mayAsk: idempotent || tool.asks === true, answered: job.answers?.length ?? 0, owner: ownerOf(job.data),
      schemas: deps.answerSchemas
    })
    if (asked !== undefined) return asked
    return withSandbox(toResult(ended, mayRepeat, deps.mask), deps.sandbox.stateOf(tool))
  } finally {
    workspace?.leave()
  }
}

const neverStarted = `The call could not be started in ${mostOfCall} tries, while others could. Perhaps the disk of the worker has no room for its arguments`

/** Nothing was started: another worker may have what is missing here. */
function putOff (shortage: string, jobId: string, { shortages }: HandlerDeps): HandlerResult {
  if (!shortages.met(shortage, jobId)) return failure('INTERNAL', `${neverStarted}: ${shortage}`)
  return { kind: 'later', reason: `this worker cannot start it: ${shortage}` }
}

/** Undefined for a call in the shared workspace. */
async function enterSession (
  { data: { session, tenant, timeoutSec }, signal }: TakenJob, tool: Tool, { sandbox, sessions }: HandlerDeps
): Promise<SessionWorkspace | RefusedSession | undefined> {
  if (session === undefined) return undefined
  const isBuiltin = tool.run.kind === 'builtin' && tool.jobType !== 'tool.exec'
  // A tool in the open may write whatever its manifest says.
  const writes = sandbox.permissionsOf(tool).includes('write_files') || (!isBuiltin && sandbox.levelOf(tool) === 'none')
  return await sessions.enter({ session, tenant, writes, frees: tool.jobType === 'workspace.delete', signal, timeoutMs: timeoutSec * 1_000 })
}

function toResult (outcome: Outcome, mayRepeat: boolean, mask: HandlerDeps['mask']): HandlerResult {
  if (outcome.ok) {
    const { cut, files, moreFiles } = outcome
    return { kind: 'succeeded', ...jsonOf(outcome), ...(cut && { cut }), ...(files && { files }), ...(moreFiles && { moreFiles }) }
  }
  if (outcome.wait !== undefined) return { kind: 'waits', wait: outcome.wait }
  if (outcome.error.code === 'WORKER_LOST' && mayRepeat) return { kind: 'requeued' }
  return { kind: 'failed', error: maskError(outcome.error, mask), retry: mayPass(outcome.error) }
}

/** The JSON of a large output is there already; its value is needed only where it turned out to be short. */
function jsonOf ({ json, output }: Success): { json: string | Buffer, value: unknown } {
  if (json === undefined) return { json: writeJson(output), value: output }
  if (json.length > limits.inlineOutputBytes) return { json, value: undefined }
  const text = json.toString()
  return { json: text, value: JSON.parse(text) }
}

function withSandbox (result: HandlerResult, sandbox: SandboxState | undefined): HandlerResult {
  return sandbox === undefined || (result.kind !== 'succeeded' && result.kind !== 'failed') ? result : { ...result, sandbox }
}

/**
 * Whether another run could end differently. More than one attempt is the submitter's or the operator's consent
 * to run a tool again that failed; a tool whose worker was lost may have done its work, and is never run again for that.
 */
function mayPass ({ code }: CallError): boolean {
  return callErrors[code].retryable && code !== 'WORKER_LOST'
}

function failure (code: CallError['code'], message: string): { kind: 'failed', error: CallError } {
  return { kind: 'failed', error: { code, message } }
}
