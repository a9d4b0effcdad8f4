import { Turns } from '@toolyard/runtime'
import { isRecord, type Batch, type CallError } from '@toolyard/contract'
import { admitCall, type Finding, type HoldTerms, type Registry } from '@toolyard/manifests'
import type { NewJob } from '@toolyard/queue'
import type { JobTypes } from '../../catalog/job-types.ts'
import type { Principal } from '../../access/principal.ts'
import { jobToolCallOf, type ServiceCall } from './job-tool-call.ts'
import type { NearTools } from '../near-tools.ts'
import { accessOf, askerOf, jobToHold, newJob } from '../new-job.ts'

/** One entry of a batch. */
export type Call = Batch['calls'][number]

/** What becomes of a call: a job, an error that is known before any job is made, or what is asked of another job. */
export type CallPlan = { call: Call, hold?: HoldTerms } & ({ job: NewJob } | { error: CallError } | { ask: ServiceCall })

export interface PlanContext {
  registry: Registry
  principal: Principal
  queue: string
  session: string | undefined
  conversation: string | undefined
  /** See `KeyRing.partOf`. */
  keyPart: string
  jobTypes: JobTypes
  newId: () => string
  /** The API process that will wait; absent in async mode. */
  replyTo: string | undefined
  callbackUrl: string | undefined
  nearTools: NearTools
}

/** Plans the calls of a batch one by one: the rules on one of them may take all that it may have of a turn of the event loop. */
export async function planCalls (calls: readonly Call[], context: PlanContext): Promise<CallPlan[]> {
  const turns = new Turns()
  const plans: CallPlan[] = []
  for (const call of calls) {
    if (turns.isOver(valuesOfCall)) await turns.next()
    plans.push(await planCall(call, context))
  }
  return plans
}

/** So that the clock is looked at for each. */
const valuesOfCall = 64

/** Looks up the tool and decides whether the call may run. */
async function planCall (call: Call, context: PlanContext): Promise<CallPlan> {
  if (call.error !== undefined) return { call, error: call.error }
  const { registry, principal, queue, session, conversation, jobTypes, replyTo, callbackUrl, nearTools } = context
  const asks = askerOf(principal, session, conversation)
  const admitted = await admitCall(
    { tool: call.name, registered: registry.get(call.name), queue, key: accessOf(principal), isDirect: true, asks },
    call.arguments,
    jobTypes.deployment
  )
  if ('error' in admitted) {
    const { error } = admitted
    if (error.code !== 'UNKNOWN_TOOL') return { call, error }
    const near = await nearTools.find(call.name)
    const message = `${error.message}${faultHint(registry, call.name)}`
    return { call, error: { ...error, message, ...(near.length === 0 ? {} : { details: { did_you_mean: near } }) } }
  }
  const { tool } = admitted.registered
  if (tool.run.kind === 'service' && tool.run.action === 'call_tool') return { ...await planCall(innerCall(call, admitted.arguments, registry), context), call }
  const ask = jobToolCallOf(tool, admitted.arguments)
  if (ask !== undefined) return { call, ask }
  const parts = { id: context.newId(), arguments: admitted.arguments, principal, keyPart: context.keyPart, session, jobTypes, tags: ['agent-tool'], conversation, replyTo, callbackUrl }
  const job = newJob(admitted.registered, parts)
  const { hold } = admitted
  return hold === undefined ? { call, job } : { call, hold, job: await jobToHold(job, hold, admitted.registered, context.keyPart) }
}

/** A tool that is asked for may be missing because of a fault. What it is, is for operators. */
function faultHint (registry: Registry, name: string): string {
  const isFault = ({ severity, whole, tool }: Finding): boolean => severity === 'error' && (whole === true || tool === name)
  return registry.findings.some(isFault) ? '. A manifest of the service has faults, which may be why: `toolyard validate` shows them' : ''
}

/** The call that `call_tool` is for; it is answered under the name that the model has called. */
function innerCall (call: Call, { name, arguments: args }: Readonly<Record<string, unknown>>, registry: Registry): Call {
  const inner: Call = { call_id: call.call_id, name: String(name), arguments: isRecord(args) ? args : {} }
  const { run } = registry.get(inner.name)?.tool ?? {}
  if (run?.kind !== 'service' || run.action !== 'call_tool') return inner
  return { ...inner, error: { code: 'INVALID_ARGUMENTS', message: `name: '${inner.name}' can't call itself: name the tool that is to be called` } }
}
