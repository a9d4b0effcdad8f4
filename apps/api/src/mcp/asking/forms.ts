import { isRecord, type QuestionView } from '@toolyard/contract'
import { isSpecType, type InputRequests } from '@modelcontextprotocol/server'

/** A request to the person behind a client, as the protocol has it. */
export type PersonRequest = InputRequests[string]

/** A question as a form of the protocol; undefined for a schema that no form has. */
export function formRequest ({ text, schema }: QuestionView, fault: string | undefined): PersonRequest | undefined {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {}
  const fields = Object.entries(properties).map(([name, property]) => [name, fieldOf(property)] as const)
  const requestedSchema = { ...isRecord(schema) && schema, properties: Object.fromEntries<unknown>(fields) }
  const params = { mode: 'form', message: fault === undefined ? text : `${text} (${fault})`, requestedSchema }
  return isSpecType.ElicitRequestFormParams(params) ? { method: 'elicitation/create', params } : undefined
}

/** Forms want the type of a choice said, which schemas leave out. */
function fieldOf (property: unknown): unknown {
  if (!isRecord(property) || property['type'] !== undefined) return property
  const { enum: values, oneOf } = property
  const titled: unknown[] = Array.isArray(oneOf) ? oneOf : []
  const choices: unknown[] = Array.isArray(values) ? values : titled.map(each => isRecord(each) ? each['const'] : undefined)
  return choices.length > 0 && choices.every(choice => typeof choice === 'string') ? { type: 'string', ...property } : property
}
