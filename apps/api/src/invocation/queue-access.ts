import type { Principal } from '../plugins/auth.ts'

/** Says that a key may not use a queue, and which it may (RC12); undefined when it may. */
export function queueRefusal ({ queueAllowlist }: Principal, queue: string): { message: string, details: { allowed_queues: string[] } } | undefined {
  if (queueAllowlist === undefined || queueAllowlist.includes(queue)) return undefined
  return { message: `Queue '${queue}' is not allowed for this API key.`, details: { allowed_queues: [...queueAllowlist] } }
}
