import { isRecord, type AskedQuestion } from '@toolyard/contract'
import { inputRequired, isSpecType, type InputRequests } from '@modelcontextprotocol/server'
import type { ClientForms } from './client-forms.ts'

/** A request to a client, or to the person behind it, as the protocol has it. */
export type ClientRequest = InputRequests[string]

/** A question as a request of the protocol; undefined for one that the client can't be asked. */
export function questionRequest (question: AskedQuestion, forms: ClientForms, fault: string | undefined): ClientRequest | undefined {
  const { kind, params } = question
  if (kind === 'form') return forms.form ? formRequest(question, fault) : undefined
  if (kind === 'roots') return forms.roots ? inputRequired.listRoots() : undefined
  if (!forms.sampling || !isSpecType.CreateMessageRequestParams(params)) return undefined
  const hasTools = params.tools !== undefined || params.toolChoice !== undefined
  return hasTools && !forms.tools ? undefined : inputRequired.createMessage(params)
}

/** Undefined for a schema that no form has. */
function formRequest ({ text, schema }: AskedQuestion, fault: string | undefined): ClientRequest | undefined {
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
