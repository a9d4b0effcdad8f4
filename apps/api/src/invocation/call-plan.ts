import type { Batch, CallError } from '@toolyard/contract'
import type { Registry } from '@toolyard/manifests'
import type { NewJob } from '@toolyard/queue'
import type { JobTypes } from '../job-types.ts'
import type { Principal } from '../plugins/auth.ts'
import { checkArguments, summary } from './arguments-error.ts'
import { newJob } from './new-job.ts'
import { permissionRefusal } from './permission-access.ts'
import { innerQueueRefusal, queueRefusal } from './queue-access.ts'

/** One entry of a batch. */
export type Call = Batch['calls'][number]

/** What becomes of a call: a job, or an error that is known before any job is made. */
export type CallPlan = { call: Call, job: NewJob } | { call: Call, error: CallError }

export interface PlanContext {
  registry: Registry
  principal: Principal
  queue: string
  jobTypes: JobTypes
  newId: () => string
  /** The API process that will wait; absent in async mode. */
  replyTo: string | undefined
  callbackUrl: string | undefined
}

/** Looks up the tool and checks that it is enabled, that the key may use the queue and the tool's permissions, and the arguments (R28, R32, RC12). */
export async function planCall (call: Call, context: PlanContext): Promise<CallPlan> {
  const { registry, principal, jobTypes } = context
  const registered = registry.get(call.name)
  if (registered === undefined) {
    return { call, error: { code: 'UNKNOWN_TOOL', message: `Tool '${call.name}' not found in registry` } }
  }
  const { tool } = registered
  if (!jobTypes.isEnabled(tool)) {
    return { call, error: { code: 'JOB_TYPE_DISABLED', message: `Job type '${tool.jobType}' is disabled` } }
  }
  if (tool.unavailable !== undefined) {
    return { call, error: { code: 'TOOL_UNAVAILABLE', message: `Tool '${tool.name}' can't run: ${tool.unavailable}` } }
  }
  const refusal = queueRefusal(principal, context.queue) ?? permissionRefusal(tool, principal, jobTypes)
  if (refusal !== undefined) return { call, error: { code: 'FORBIDDEN', ...refusal } }
  const checked = await checkArguments(registered, call.arguments)
  if (!checked.ok) {
    return { call, error: { code: 'INVALID_ARGUMENTS', message: summary(tool, call.arguments, checked.issues), details: { issues: checked.issues } } }
  }
  const innerRefusal = innerQueueRefusal(principal, tool, checked.arguments)
  if (innerRefusal !== undefined) return { call, error: { code: 'FORBIDDEN', ...innerRefusal } }
  return { call, job: newJob(registered, { id: context.newId(), arguments: checked.arguments, principal, jobTypes, tags: ['agent-tool'], replyTo: context.replyTo, callbackUrl: context.callbackUrl }) }
}
