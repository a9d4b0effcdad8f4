import { Turns } from '@toolyard/runtime'
import { isRecord, shortName } from '@toolyard/contract'
import { admitCall, type AskedCall, type Finding, type HoldTerms, type PolicyAsker, type Registry } from '@toolyard/manifests'
import { jobToHold, newJob, type JobTerms } from '../new-job.ts'
import type { NearTools } from '../near-tools.ts'
import type { CallState } from '../job-admission.ts'
import { serviceCallOf } from '../service-call.ts'
import type { Call } from './call-answer.ts'
import { PlannedCall } from './planned-call.ts'

/** Shared by the calls of a batch. */
interface PlanContext {
  registry: Registry
  queue: string
  terms: JobTerms
  asks: PolicyAsker
  newId: () => string
  nearTools: NearTools
}

/** Plans the calls of a batch one by one: the rules on one of them may take all that it may have of a turn of the event loop. */
export async function planCalls (calls: readonly Call[], context: PlanContext): Promise<PlannedCall[]> {
  const turns = new Turns()
  const planned: PlannedCall[] = []
  for (const call of calls) {
    if (turns.isOver(valuesOfCall)) await turns.next()
    const { state, hold } = await plan(call, context)
    planned.push(new PlannedCall(namedCall(call, context.registry), state, hold))
  }
  return planned
}

/** So that the clock is looked at for each. */
const valuesOfCall = 64

/** The answer repeats the name of its call, in several places. One that is no tool's may be as long as the request. */
function namedCall (call: Call, registry: Registry): Call {
  return registry.get(call.name) === undefined ? { ...call, name: shortName(call.name) } : call
}

/** Looks up the tool and decides whether the call may run. */
async function plan (call: Call, context: PlanContext): Promise<{ state: CallState, hold?: HoldTerms }> {
  if (call.error !== undefined) return { state: { kind: 'refused', error: call.error } }
  const { registry, queue, terms, asks, nearTools } = context
  const asked: AskedCall = { tool: call.name, registered: registry.get(call.name), queue, key: terms.access, isDirect: true, asks }
  const admitted = await admitCall(asked, call.arguments, terms.jobTypes.deployment)
  if (admitted.kind === 'refused') {
    const { error } = admitted
    if (error.code !== 'UNKNOWN_TOOL') return { state: admitted }
    const near = await nearTools.find(call.name)
    const details = near.length === 0 ? {} : { details: { did_you_mean: near } }
    return { state: { kind: 'refused', error: { code: error.code, message: `${error.message}${faultHint(registry, call.name)}`, ...details } } }
  }
  const { registered, arguments: args, hold } = admitted
  const { run } = registered.tool
  if (run.kind === 'service') {
    if (run.action === 'call_tool') return await plan(innerCall(call, args, registry), context)
    return { state: { kind: 'service', ask: serviceCallOf(run.action, args) } }
  }
  const job = newJob(registered, context.newId(), args, terms)
  return hold === undefined
    ? { state: { kind: 'planned', job } }
    : { state: { kind: 'planned', job: await jobToHold(job, hold, registered, terms.keyPart) }, hold }
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
