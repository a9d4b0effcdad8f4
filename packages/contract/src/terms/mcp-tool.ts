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
