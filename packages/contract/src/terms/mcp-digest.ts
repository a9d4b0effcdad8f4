import { createHash } from 'node:crypto'
import { isRecord } from '../value/record.ts'
import { mcpTool, type McpTool } from './mcp-tool.ts'

/** Names what was accepted of a tool. The order of keys doesn't matter, and neither do fields that Toolyard doesn't use. */
export function mcpDigest (tool: McpTool): string {
  return createHash('sha256').update(canonical(mcpTool(tool))).digest('hex')
}

function canonical (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  return `{${Object.keys(value).sort().filter(key => value[key] !== undefined).map(key => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`
}
