import { isRecord, withoutUndefined } from '../value/record.ts'
import { numberText } from '../json/written.ts'

/** A tool as its server describes it: all that models read of it, and all that calls are checked with. */
export interface McpTool {
  name: string
  title?: string
  description?: string
  inputSchema: Record<string, unknown>
  outputSchema?: Record<string, unknown>
  annotations?: Record<string, unknown>
}

export const mostMcpTools = 1_000

/** The fields of a tool that are accepted, in their order; undefined ones are left out. */
export function mcpTool ({ name, title, description, inputSchema, outputSchema, annotations }: McpTool): McpTool {
  return { name, ...withoutUndefined({ title, description }), inputSchema, ...withoutUndefined({ outputSchema, annotations }) }
}

/** A tool as a server lists it, with the hints that the protocol knows: others come and go. */
export function listedTool ({ annotations, ...tool }: McpTool): McpTool {
  if (annotations === undefined) return tool
  const known = Object.entries(annotations).filter(([name, value]) => name === 'title' ? typeof value === 'string' : hints.has(name) && typeof value === 'boolean')
  return { ...tool, annotations: Object.fromEntries(known) }
}

const hints = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])

/** Whether something that a server, or a file, calls a tool is one. */
export function isMcpTool (value: unknown): value is McpTool {
  if (!isRecord(value)) return false
  const text = (field: unknown): boolean => field === undefined || typeof field === 'string'
  const record = (field: unknown): boolean => field === undefined || isRecord(field)
  return typeof value['name'] === 'string' && value['name'] !== '' && isRecord(value['inputSchema']) && text(value['title']) && text(value['description']) &&
    record(value['outputSchema']) && record(value['annotations'])
}

/** Why a tool that a server lists can't be served, whatever else the list holds; undefined when it can. */
export function mcpToolFault (tool: unknown): string | undefined {
  if (!isRecord(tool)) return 'it is no object'
  const { name, inputSchema: input, outputSchema: output, execution } = tool
  if (typeof name !== 'string' || name === '') return '"name" must be a text that is not empty'
  if (!isRecord(input)) return `"inputSchema" must be an object, and is ${kindOf(input)}`
  if (input['type'] !== 'object') return '"inputSchema" must have the type "object"'
  const { required, properties } = input
  if (required !== undefined && !(Array.isArray(required) && required.every(each => typeof each === 'string'))) return `"required" of "inputSchema" must be a list of texts, and is ${kindOf(required)}`
  if (properties !== undefined && !isRecord(properties)) return `"properties" of "inputSchema" must be an object, and is ${kindOf(properties)}`
  if (output !== undefined && !isRecord(output)) return `"outputSchema" must be an object, and is ${kindOf(output)}`
  if (isRecord(execution) && execution['taskSupport'] === 'required') return 'it is called as a task alone ("taskSupport"), and no tasks are made on servers'
  return isMcpTool(tool) ? undefined : 'a "title" or "description" must be a text, and "annotations" an object'
}

function kindOf (value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/** What may stand in the name of a header. */
const headerToken = /^[\w!#$%&'*+.^`|~-]+$/
/** What may stand in its value as it is: no white space at its ends, and nothing that looks encoded. */
const plainValue = /^(?!=\?base64\?.*\?=$)[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/

/**
 * The headers that a server of 2026 compares with the arguments of a call: those that properties of the tool's schema name by
 * `x-mcp-header`.
 */
export function argumentHeaders (schema: unknown, args: Record<string, unknown>): Record<string, string> {
  const headers: Record<string, string> = {}
  const add = (schema: unknown, value: unknown, written?: string): void => {
    if (!isRecord(schema)) return
    const { 'x-mcp-header': name, properties } = schema
    const text = typeof name === 'string' && headerToken.test(name) ? headerText(value, written) : undefined
    if (text !== undefined) headers[`Mcp-Param-${String(name)}`] = plainValue.test(text) ? text : `=?base64?${base64Of(text)}?=`
    if (!isRecord(properties) || !isRecord(value)) return
    for (const [key, inner] of Object.entries(properties)) if (Object.hasOwn(value, key)) add(inner, value[key], numberText(value, key))
  }
  add(schema, args)
  return headers
}

/** Undefined for what no header carries. */
function headerText (value: unknown, written: string | undefined): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : written ?? String(value)
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}

function base64Of (text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''))
}
