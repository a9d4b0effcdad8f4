import type { ToolSpec } from '@toolyard/contract'
import type { Tool } from './tool.ts'

/** A tool as models read it. Description and parameters are always there; the schema is unchanged. */
export function toolSpec (tool: Tool): ToolSpec {
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.parameters } }
}
