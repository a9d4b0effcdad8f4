/**
 * A value that is never missing, whatever its type says.
 *
 * @throws Error with the name of what is missing: to go on without it would hide a fault.
 */
export function required<Value> (value: Value | null | undefined, name: string): Value {
  if (value === null || value === undefined) throw new Error(`${name} is missing`)
  return value
}
