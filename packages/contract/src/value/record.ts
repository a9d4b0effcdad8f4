/** Whether a value is a JSON object: no list, and not null. */
export function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields that are not undefined: a field that may be absent is not there at all then. */
export function withoutUndefined<Value extends object> (value: Value): Given<Value> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- All fields of the result are optional.
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Given<Value>
}

type Given<Value> = { [Name in keyof Value]?: Exclude<Value[Name], undefined> }

/** Whether a value is of a type of JSON Schema, by its name. */
export function isOfType (value: unknown, type: unknown): boolean {
  switch (type) {
    case 'array': return Array.isArray(value)
    case 'object': return isRecord(value)
    case 'integer': return Number.isInteger(value)
    case 'boolean': return typeof value === 'boolean'
    case 'number': return typeof value === 'number'
    case 'null': return value === null
    case 'string': return typeof value === 'string'
    default: return false
  }
}
