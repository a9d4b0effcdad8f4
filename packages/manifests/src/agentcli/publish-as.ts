import { asError, isRecord } from '@toolyard/contract/terms'
import type { Static } from 'typebox'
import { Check } from 'typebox/schema'
import type { Remark } from '../finding/finding-list.ts'
import { goQuote } from '../finding/go-quote.ts'
import { resourceUri } from '../tool/resource-uri.ts'
import type { PublishedAs, Tool } from '../tool/tool.ts'
import { PublishedResource } from './definition.ts'

/** Reads `publishAs` of an entry. With a fault the entry isn't served: models would see what is not meant for them. */
export function readPublishAs (written: unknown, tool: Tool): { publishAs?: PublishedAs, faults: Remark[] } {
  const { name, source: { index } } = tool
  const fault = (message: string, fix: string): { faults: Remark[] } => (
    { faults: [{ severity: 'error', rule: 'mcp/publish', index, tool: name, path: ['tools', index, 'publishAs'], message: `tool[${index}] ${goQuote(name)}: ${message}`, fix }] }
  )
  if (written === undefined) return { faults: [] }
  const properties = propertiesOf(tool.parameters)
  if (written === 'prompt') {
    const other = Object.keys(properties).find(property => !isText(properties[property]))
    if (other === undefined) return { publishAs: { kind: 'prompt' }, faults: [] }
    return fault(`${goQuote(other)} is no text, and arguments of a prompt are texts`, `Write "type": "string" for ${other}.`)
  }
  if (!isResource(written)) return fault('publishAs must be "prompt" or {"uri": ..., "mimeType": ...}', 'Correct publishAs, or remove it: then models see a tool.')
  try {
    const { variables } = resourceUri(written.uri)
    const unknown = variables.find(variable => !isText(properties[variable]))
    const missing = requiredOf(tool.parameters).find(property => !variables.includes(property))
    if (unknown !== undefined) return fault(`publishAs.uri has the variable ${goQuote(unknown)}, which is no text parameter of the tool`, 'Add it to the properties of the schema, with "type": "string".')
    if (missing !== undefined) return fault(`publishAs.uri has no {${missing}}, which the schema requires`, `Put {${missing}} into the URI, or don't require it.`)
    return { publishAs: { kind: 'resource', ...written }, faults: [] }
  } catch (error) {
    return fault(`publishAs.uri ${asError(error).message}`, 'Write a URI such as report://{year}/{month}.')
  }
}

function isResource (written: unknown): written is Static<typeof PublishedResource> {
  return Check(PublishedResource, written)
}

function propertiesOf ({ properties }: Tool['parameters']): Record<string, unknown> {
  return isRecord(properties) ? properties : {}
}

function requiredOf ({ required }: Tool['parameters']): string[] {
  return Array.isArray(required) ? required.filter(name => typeof name === 'string') : []
}

/** Without a type it may be a text. */
function isText (schema: unknown): boolean {
  return isRecord(schema) && (schema['type'] === undefined || schema['type'] === 'string')
}
