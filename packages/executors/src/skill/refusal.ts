import type { CallErrorCode } from '@toolyard/contract'
import type { Failure } from '../run/outcome.ts'

/** A call that ends before its program is started: nothing is wrong with the tool, so it isn't worth a retry. */
export function refusal (code: Extract<CallErrorCode, 'INVALID_ARGUMENTS' | 'NOT_ALLOWED' | 'TOOL_UNAVAILABLE'>, message: string): Failure {
  return { ok: false, error: { code, message } }
}

/** Arguments that are no object (SC4). */
export const noObject = refusal('INVALID_ARGUMENTS', 'arguments must be an object')

/** A parameter's value; undefined for what the caller didn't send, also when its name is one that every object inherits. */
export function ownValue (args: Record<string, unknown>, param: string): unknown {
  return Object.hasOwn(args, param) ? args[param] : undefined
}
