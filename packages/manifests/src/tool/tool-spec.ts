import type { ToolSpec } from '@toolyard/contract'
import type { Tool } from './tool.ts'

/** A tool as models read it (R6, A28). Description and parameters are always there (R50); the schema is unchanged (A7). */
export function toolSpec (tool: Tool): ToolSpec {
  return { type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.parameters } }
}
