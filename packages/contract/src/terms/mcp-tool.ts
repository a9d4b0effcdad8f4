import { isRecord, withoutUndefined } from '../value/record.ts'

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
