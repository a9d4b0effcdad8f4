import { failure } from '../run/outcome.ts'

export const noObject = failure('INVALID_ARGUMENTS', 'arguments must be an object')

/** A parameter's value; undefined for what the caller didn't send, also when its name is one that every object inherits. */
export function ownValue (args: Record<string, unknown>, param: string): unknown {
  return Object.hasOwn(args, param) ? args[param] : undefined
}
