import type { AnthropicTool, BedrockTool, GeminiFunction, ResponsesTool, ToolFormat, ToolSpec } from '@toolyard/contract'
import { geminiName } from '../schema/provider-names.ts'
import { toolSpec } from '../tool/tool-spec.ts'
import type { Tool } from '../tool/tool.ts'
import { providerSchema } from './provider-schema.ts'
import { wellFormed } from './well-formed.ts'
import { strictToolSpec } from './strict-spec.ts'

type ProviderTool = ToolSpec | ResponsesTool | AnthropicTool | GeminiFunction | BedrockTool

/**
 * A tool in the shape of a provider's API, with a schema that the provider takes; with `strict` in the form of strict mode,
 * where its schema allows it.
 */
export function providerTool (tool: Tool, format: ToolFormat, strict: boolean): ProviderTool {
  const spec = (strict ? strictToolSpec(tool) : undefined) ?? toolSpec(tool)
  const { name, description, parameters: written, strict: isStrict } = wellFormed(spec.function)
  const { schema: parameters } = providerSchema(written, format)
  switch (format) {
    case 'chat': return { ...spec, function: { ...spec.function, description, parameters } }
    case 'responses': return { type: 'function', name, description, parameters, strict: isStrict === true }
    case 'anthropic': return { name, description, input_schema: parameters, ...(isStrict === true ? { strict: true } : {}) }
    case 'gemini': return { name: geminiName(name), description, parametersJsonSchema: parameters }
    // Bedrock refuses a description without letters, and all tools of the request with it.
    case 'bedrock': return { toolSpec: { name, description: description.trim() === '' ? name : description, inputSchema: { json: parameters } } }
  }
}
