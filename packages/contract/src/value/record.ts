/** Whether a value is a JSON object: no list, and not null. */
export function isRecord (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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
