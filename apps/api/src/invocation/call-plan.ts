import { limits, type Batch, type CallError } from '@toolyard/contract'
import { withoutStrictNulls, type ArgumentsResult, type RegisteredTool, type Registry, type Tool } from '@toolyard/manifests'
import { newJobId, type NewJob } from '@toolyard/queue'
import type { Principal } from '../plugins/auth.ts'

/** One entry of a batch. */
export type Call = Batch['calls'][number]

/** What becomes of a call: a job, or an error that is known before any job is made. */
export type CallPlan = { call: Call, job: NewJob } | { call: Call, error: CallError }

export interface PlanContext {
  registry: Registry
  principal: Principal
  queue: string
  /** Execution timeout of tools that don't set one, in seconds. */
  toolTimeoutSec: number
  /** The API process that will wait; absent in async mode. */
  replyTo: string | undefined
}

/** Looks up the tool and checks that it is enabled, that the key may use the queue, and the arguments (R28, R32, RC12). */
export function planCall (call: Call, context: PlanContext): CallPlan {
  const { registry, principal, queue } = context
  const registered = registry.get(call.name)
  if (registered === undefined) {
    return { call, error: { code: 'UNKNOWN_TOOL', message: `Tool '${call.name}' not found in registry` } }
  }
  const { tool } = registered
  if (!tool.enabled) {
    return { call, error: { code: 'JOB_TYPE_DISABLED', message: `Job type '${tool.jobType}' is disabled` } }
  }
  if (tool.unavailable !== undefined) {
    return { call, error: { code: 'TOOL_UNAVAILABLE', message: `Tool '${tool.name}' can't run: ${tool.unavailable}` } }
  }
  if (principal.queueAllowlist !== undefined && !principal.queueAllowlist.includes(queue)) {
    const details = { allowed_queues: [...principal.queueAllowlist] }
    return { call, error: { code: 'FORBIDDEN', message: `Queue '${queue}' is not allowed for this API key.`, details } }
  }
  const checked = checkArguments(registered, call.arguments)
  if (!checked.ok) {
    return { call, error: { code: 'INVALID_ARGUMENTS', message: summary(checked.issues), details: { issues: checked.issues } } }
  }
  return { call, job: newJob(tool, checked.arguments, context) }
}

/** In strict mode models send null for an optional argument that they leave out. */
function checkArguments (registered: RegisteredTool, args: Record<string, unknown>): ArgumentsResult {
  const checked = registered.validate(args)
  if (checked.ok) return checked
  const withoutNulls = registered.validate(withoutStrictNulls(registered.tool.parameters, args))
  return withoutNulls.ok ? withoutNulls : checked
}

function newJob (tool: Tool, args: Record<string, unknown>, { principal, toolTimeoutSec, replyTo }: PlanContext): NewJob {
  return {
    id: newJobId(),
    type: tool.jobType,
    data: {
      tool: tool.name,
      arguments: args,
      timeoutSec: Math.min(tool.timeoutSec ?? toolTimeoutSec, limits.toolTimeoutSec.max),
      keyName: principal.name,
      ...(replyTo === undefined ? {} : { replyTo })
    }
  }
}

function summary (issues: ReadonlyArray<{ path: string, message: string }>): string {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return first === undefined ? 'Arguments do not fit the schema' : `Arguments do not fit the schema: ${first.path} ${first.message}${more}`
}
