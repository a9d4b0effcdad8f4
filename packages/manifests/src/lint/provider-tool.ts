import type { AnthropicTool, ResponsesTool, ToolFormat, ToolSpec } from '@toolyard/contract'
import { toolSpec } from '../tool/tool-spec.ts'
import type { Tool } from '../tool/tool.ts'
import { strictToolSpec } from './strict-spec.ts'

/** A tool in the shape of a provider's API; with `strict` in the form of strict mode, where its schema allows it. */
export function providerTool (tool: Tool, format: ToolFormat, strict: boolean): ToolSpec | ResponsesTool | AnthropicTool {
  const spec = (strict ? strictToolSpec(tool) : undefined) ?? toolSpec(tool)
  const { name, description, parameters, strict: isStrict } = spec.function
  switch (format) {
    case 'chat': return spec
    case 'responses': return { type: 'function', name, description, parameters, strict: isStrict === true }
    case 'anthropic': return { name, description, input_schema: parameters, ...(isStrict === true ? { strict: true } : {}) }
  }
}
