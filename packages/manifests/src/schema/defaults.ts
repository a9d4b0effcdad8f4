import { isRecord } from '@toolyard/contract/terms'
import { shortened } from '../finding/shortened.ts'

/** Parameters whose default doesn't have their type, which no call could do without. */
export function wrongDefaults (parameters: unknown): string[] {
  if (!isRecord(parameters)) return []
  return Object.entries(parameters).flatMap(([name, field]) => {
    if (!isRecord(field) || !('default' in field)) return []
    const { default: standard, type, enum: values } = field
    const listed = !Array.isArray(values) || values.some(value => JSON.stringify(value) === JSON.stringify(standard))
    const fits = type === undefined || [type].flat().some(each => isOfType(standard, each))
    return fits && listed ? [] : [name]
  })
}

/** Properties that are named. */
const most = 20

/** What is said of a schema of arguments with such defaults. */
export function defaultFaults (schema: unknown): Array<{ message: string, fix: string }> {
  return wrongDefaults(isRecord(schema) ? schema['properties'] : undefined).slice(0, most).map(name => ({
    message: `the default of ${JSON.stringify(shortened(name))} does not fit it: a call without it is refused`,
    fix: 'Correct the default, or remove it.'
  }))
}

function isOfType (value: unknown, type: unknown): boolean {
  switch (type) {
    case 'array': return Array.isArray(value)
    case 'object': return isRecord(value)
    case 'integer': return Number.isInteger(value)
    case 'boolean': return typeof value === 'boolean'
    case 'number': return typeof value === 'number'
    case 'null': return value === null
    default: return typeof value === 'string'
  }
}
