import { createHash } from 'node:crypto'
import { isRecord } from '../value/record.ts'

/** A tool as its server describes it: all that models read of it, and all that calls are checked with. */
export interface McpTool {
  name: string
  title?: string
  description?: string
  inputSchema: Record<string, unknown>
  outputSchema?: Record<string, unknown>
  annotations?: Record<string, unknown>
}

/** Tools of one server. */
export const mostMcpTools = 1_000

/** Names what was accepted of a tool. The order of keys doesn't matter, and neither do fields that Toolyard doesn't use. */
export function mcpDigest (tool: McpTool): string {
  return createHash('sha256').update(canonical(mcpTool(tool))).digest('hex')
}

/** The fields of a tool that are accepted, in their order; undefined ones are left out. */
export function mcpTool ({ name, title, description, inputSchema, outputSchema, annotations }: McpTool): McpTool {
  return {
    name,
    ...title !== undefined && { title },
    ...description !== undefined && { description },
    inputSchema,
    ...outputSchema !== undefined && { outputSchema },
    ...annotations !== undefined && { annotations }
  }
}

/** Whether something that a server, or a file, calls a tool is one. */
export function isMcpTool (value: unknown): value is McpTool {
  if (!isRecord(value)) return false
  const text = (field: unknown): boolean => field === undefined || typeof field === 'string'
  const record = (field: unknown): boolean => field === undefined || isRecord(field)
  return typeof value['name'] === 'string' && value['name'] !== '' && isRecord(value['inputSchema']) && text(value['title']) && text(value['description']) &&
    record(value['outputSchema']) && record(value['annotations'])
}

function canonical (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  return `{${Object.keys(value).sort().filter(key => value[key] !== undefined).map(key => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`
}
