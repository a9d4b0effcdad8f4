import type { JobAccess } from '@toolyard/contract'
import { permissions, permissionsBeyond, shortName, type CallError, type CallErrorCode, type Permission, type PermissionPolicy } from '@toolyard/contract/terms'
import type { Issue } from '../schema/issues.ts'
import type { PolicyInput } from '../schema/policy/expression.ts'
import { judge, type HoldTerms, type Policy } from '../schema/policy/policy.ts'
import { toolOfCall } from '../skill/agent/tool-of-call.ts'
import type { Tool } from '../tool/tool.ts'
import { checkArguments, fileOfNoSession, summary } from './arguments-check.ts'
import { hostsBeyond } from './egress-bound.ts'
import type { Registry } from './registry.ts'
import type { RegisteredTool } from './registration.ts'

export interface AskedCall {
  /** The name of a tool or, instead, its job type. */
  tool?: string | undefined
  type?: string | undefined
  registered: RegisteredTool | undefined
  /** Absent: the call is in its queue already. */
  queue?: string
  key: JobAccess
  /** The question for the rules; absent where they were asked before. */
  asks?: Omit<PolicyInput, 'args' | 'tool' | 'audit'>
  /** Who asks needs no job: what the service answers by itself may be called. */
  isDirect?: true
}

/** The operator's settings for tools. */
export interface Deployment {
  jobTypes: { get: (type: string) => { enabled?: boolean, idempotent?: boolean } }
  permissions: PermissionPolicy
  policy?: () => Policy
}

export interface Refusal extends CallError {
  code: Extract<CallErrorCode, 'POLICY_DENIED' | 'UNKNOWN_TOOL' | 'JOB_TYPE_DISABLED' | 'TOOL_UNAVAILABLE' | 'FORBIDDEN' | 'INVALID_ARGUMENTS'>
  details?: Record<string, unknown>
}

export interface Refused {
  kind: 'refused'
  error: Refusal
}

interface AdmittedCall {
  kind: 'admitted'
  registered: RegisteredTool
  /** With their defaults. */
  arguments: Record<string, unknown>
  hold?: HoldTerms
}

/** All refusals, in the order in which calls are checked; docs/decisions/0065-order-of-checks.md says why. */
const refusals = {
  unknown: ({ tool, type }: AskedCall) => ({ code: 'UNKNOWN_TOOL', message: tool === undefined ? `No tool has the job type '${shortName(type ?? '')}'` : `Tool '${shortName(tool)}' not found in registry` }),
  disabled: ({ jobType }: Tool) => ({ code: 'JOB_TYPE_DISABLED', message: `Job type '${jobType}' is disabled` }),
  service: ({ name }: Tool) => ({ code: 'INVALID_ARGUMENTS', message: `Tool '${name}' is answered at once and can't be a job: call it` }),
  unavailable: ({ name, unavailable }: Tool) => ({ code: 'TOOL_UNAVAILABLE', message: `Tool '${name}' can't run: ${unavailable}` }),
  queue: (queue: string, allowed: readonly string[]) => ({ code: 'FORBIDDEN', message: `Queue '${queue}' is not allowed for this API key.`, details: { allowed_queues: [...allowed] } }),
  namespace: ({ name }: Tool) => ({ code: 'FORBIDDEN', message: `Tool '${name}' is of no namespace that this API key may use` }),
  permissions: ({ name }: Tool, beyond: Permission[]) => ({ code: 'FORBIDDEN', message: `Tool '${name}' needs permissions that are not allowed: ${beyond.join(', ')}`, details: { permissions: beyond } }),
  hosts: ({ name }: Tool, beyond: string[]) => ({ code: 'FORBIDDEN', message: `Tool '${name}' reaches hosts that are not allowed: ${beyond.join(', ')}`, details: { hosts: beyond } }),
  arguments: (tool: Tool, args: Record<string, unknown>, issues: Issue[]) => ({ code: 'INVALID_ARGUMENTS', message: summary(tool, args, issues), details: { issues } })
} satisfies Record<string, (...about: never[]) => Refusal>

/** Decides whether a call may run: its tool, then its arguments, then the queue that these name, then the rules. */
export async function admitCall (
  call: AskedCall, args: Record<string, unknown>, deployment: Deployment
): Promise<AdmittedCall | Refused> {
  const admitted = admitTool(call, deployment)
  if (admitted.kind === 'refused') return admitted
  const { registered } = admitted
  const checked = await checkArguments(registered, args, call.key.tenant ?? `key ${call.asks?.key.name ?? ''}`)
  if (!checked.ok) return refused(refusals.arguments(registered.tool, args, checked.issues))
  const { queue } = checked.arguments
  const called = toolOfCall(registered.tool, checked.arguments)
  const refusal = called === registered.tool ? undefined : permissionRefusal(called, call.key, deployment)
  if (refusal !== undefined) return refused(refusal)
  const error = makesJobs(registered.tool) && typeof queue === 'string' ? queueRefusal(call.key, queue) : undefined
  if (error !== undefined) return refused(error)
  const { asks } = call
  const rules = asks === undefined ? [] : [...deployment.policy?.() ?? [], ...registered.policy]
  if (asks === undefined || rules.length === 0) return { kind: 'admitted', registered, arguments: checked.arguments }
  const verdict = judge(rules, { args: checked.arguments, tool: called.name, audit: called.audit ?? '', ...asks })
  if (verdict.kind === 'deny') return refused(verdict.error)
  if (verdict.kind === 'allow') return { kind: 'admitted', registered, arguments: checked.arguments }
  // Nobody is asked about a call that can't run.
  const issues = asks.tenant !== '' && asks.session === '' ? await fileOfNoSession(registered.tool, checked.arguments) : []
  if (issues.length > 0) return refused(refusals.arguments(registered.tool, args, issues))
  return { kind: 'admitted', registered, arguments: checked.arguments, hold: verdict.terms }
}

function refused (error: Refusal): Refused {
  return { kind: 'refused', error }
}

/** Decides whether a call may run, whatever its arguments. */
export function admitTool (call: AskedCall, deployment: Deployment): { kind: 'admitted', registered: RegisteredTool } | Refused {
  const { registered, queue, key } = call
  if (registered === undefined) return refused(refusals.unknown(call))
  const { tool } = registered
  if (!isEnabled(tool, deployment)) return refused(refusals.disabled(tool))
  if (tool.unavailable !== undefined) return refused(refusals.unavailable(tool))
  if (tool.run.kind === 'service' && call.isDirect !== true) return refused(refusals.service(tool))
  const error = (queue === undefined ? undefined : queueRefusal(key, queue)) ?? keyRefusal(tool, key, deployment)
  return error === undefined ? { kind: 'admitted', registered } : refused(error)
}

/** Whether a tool is switched on: a switch of its job type wins over the manifest, in both directions. */
export function isEnabled (tool: Tool, { jobTypes }: Deployment): boolean {
  return jobTypes.get(tool.jobType).enabled ?? tool.enabled
}

/** Whether a run whose worker was lost is begun anew: a switch of its job type wins over the manifest. */
export function isIdempotent (tool: Tool, { jobTypes }: Deployment): boolean {
  return jobTypes.get(tool.jobType).idempotent ?? tool.idempotent
}

/** Says that a key may not use a queue, and which it may; undefined when it may. */
export function queueRefusal ({ queues }: JobAccess, queue: string): Refusal | undefined {
  return queues === undefined || queues.includes(queue) ? undefined : refusals.queue(queue, queues)
}

/** Says that a key may not use a tool; undefined when it may. What the service answers by itself is of no namespace. */
export function keyRefusal (tool: Tool, key: JobAccess, deployment: Pick<Deployment, 'permissions'>): Refusal | undefined {
  const { namespaces } = key
  const isForeign = namespaces !== undefined && tool.run.kind !== 'service' && (tool.namespace === undefined || !namespaces.includes(tool.namespace))
  return isForeign ? refusals.namespace(tool) : permissionRefusal(tool, key, deployment)
}

/** Says that a tool holds permissions, or reaches hosts, which the deployment, the tenant or the key doesn't allow; else undefined. */
export function permissionRefusal (tool: Tool, key: JobAccess, { permissions }: Pick<Deployment, 'permissions'>): Refusal | undefined {
  const beyond = permissionsBeyond(heldPermissions(tool, permissions), permissions, key.permissions)
  if (beyond.length > 0) return refusals.permissions(tool, beyond)
  const hosts = hostsBeyond(tool, permissions, key)
  return hosts.length === 0 ? undefined : refusals.hosts(tool, hosts)
}

/** Who names hosts needs what the permission `network` is: an operator or a key that allows none of it allows no list either. */
export function heldPermissions ({ permissions, network }: Tool, { defaults }: PermissionPolicy): readonly Permission[] {
  const own = permissions ?? defaults
  if (network === undefined) return own
  const others = own.filter(permission => permission !== 'network')
  return network.length === 0 ? others : [...others, 'network']
}

/** Whether a tool makes jobs of its own, in queues that its arguments may name. */
export function makesJobs (tool: Tool): boolean {
  return tool.run.kind === 'builtin' && tool.jobType === 'workflow.run'
}

/** The question for the rules beside the call. */
export type PolicyAsker = NonNullable<AskedCall['asks']>

/** The rules' answer to a call that nothing else refuses; a call that is refused for another reason is denied with that. */
export async function decidePolicy (
  registry: Pick<Registry, 'get' | 'policy'>, tool: string, args: Record<string, unknown>, asks: PolicyAsker
): Promise<{ decision: 'allow' | 'deny' | 'hold', reason?: string }> {
  const everything = { allowed: permissions, defaults: [] }
  const deployment: Deployment = { jobTypes: { get: () => ({}) }, permissions: everything, policy: () => registry.policy }
  const admitted = await admitCall({ tool, registered: registry.get(tool), key: {}, isDirect: true, asks }, args, deployment)
  if (admitted.kind === 'refused') return { decision: 'deny', reason: admitted.error.message }
  if (admitted.hold === undefined) return { decision: 'allow' }
  return { decision: 'hold', ...(admitted.hold.reason === undefined ? {} : { reason: admitted.hold.reason }) }
}
