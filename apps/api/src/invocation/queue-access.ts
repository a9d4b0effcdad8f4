import type { Tool } from '@toolyard/manifests'
import type { Principal } from '../plugins/auth.ts'

/** Says that a key may not use a queue, and which it may (RC12); undefined when it may. */
export function queueRefusal ({ queueAllowlist }: Principal, queue: string): { message: string, details: { allowed_queues: string[] } } | undefined {
  if (queueAllowlist === undefined || queueAllowlist.includes(queue)) return undefined
  return { message: `Queue '${queue}' is not allowed for this API key.`, details: { allowed_queues: [...queueAllowlist] } }
}

/** Whether a tool makes jobs of its own, in queues that its arguments may name (B31). */
export function makesJobs (tool: Tool): boolean {
  return tool.run.kind === 'builtin' && tool.jobType === 'workflow.run'
}

/** Says that a key may not use the queue that a call's arguments name for its jobs; undefined when it may, or there is none. */
export function innerQueueRefusal (principal: Principal, tool: Tool, { queue }: Readonly<Record<string, unknown>>): ReturnType<typeof queueRefusal> {
  return makesJobs(tool) && typeof queue === 'string' ? queueRefusal(principal, queue) : undefined
}
