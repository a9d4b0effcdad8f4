import type { AnthropicTool, BedrockTool, GeminiFunction, ResponsesTool, ToolFormat, ToolSpec } from '@toolyard/contract'
import { subschemasOf } from '../schema/form/subschemas.ts'
import { geminiName } from '../schema/provider-names.ts'
import { toolSpec } from '../tool/tool-spec.ts'
import type { JsonSchema, Tool } from '../tool/tool.ts'
import { providerSchema } from './provider-schema.ts'
import { wellFormed } from './well-formed.ts'
import { strictRoom, strictRules } from './strict-limits.ts'
import { strictToolSpec } from './strict-spec.ts'

type ProviderTool = ToolSpec | ResponsesTool | AnthropicTool | GeminiFunction | BedrockTool

/** Whose strict mode a list has. Gemini has none for single functions, and Bedrock hands its tools on to Anthropic's models. */
const strictOf: Readonly<Record<ToolFormat, keyof typeof strictRules | undefined>> = {
  chat: 'openai', responses: 'openai', anthropic: 'anthropic', bedrock: 'anthropic', gemini: undefined
}

/**
 * Makes tools of one list in the shape of a provider's API, with schemas that the provider takes; with `strict` in the form of strict
 * mode, where their schemas allow it. Anthropic takes few strict tools in a request: the first ones that operators have are strict.
 */
export function providerTools (format: ToolFormat, strict: boolean): (tool: Tool) => ProviderTool {
  const mode = strict ? strictOf[format] : undefined
  if (mode === undefined) return tool => providerTool(toolSpec(tool), format)
  if (mode === 'openai') return tool => providerTool(strictToolSpec(tool) ?? toolSpec(tool), format)
  const room = new StrictRoom()
  return tool => {
    const spec = tool.source.format === 'builtin' ? undefined : strictToolSpec(tool, strictRules.anthropic)
    return providerTool(spec !== undefined && room.takes(spec.function.parameters) ? spec : toolSpec(tool), format)
  }
}

/** What is left for further strict tools of a list. */
class StrictRoom {
  #tools: number = strictRoom.tools
  #optional: number = strictRoom.optional
  #choices: number = strictRoom.choices

  takes (schema: JsonSchema): boolean {
    const nodes = subschemasOf(schema).map(({ node }) => node)
    const optional = nodes.reduce((sum, { properties, required }) => sum + countOf(properties) - countOf(required), 0)
    const choices = nodes.filter(({ type, anyOf }) => Array.isArray(type) || anyOf !== undefined).length
    if (this.#tools === 0 || optional > this.#optional || choices > this.#choices) return false
    this.#tools -= 1
    this.#optional -= optional
    this.#choices -= choices
    return true
  }
}

function countOf (members: unknown): number {
  return Object.keys(members ?? {}).length
}

function providerTool (spec: ToolSpec, format: ToolFormat): ProviderTool {
  const { name, description, parameters: written, strict: isStrict } = wellFormed(spec.function)
  const { schema: parameters } = providerSchema(written, format)
  const strictness = isStrict === true ? { strict: true } as const : {}
  switch (format) {
    case 'chat': return { ...spec, function: { ...spec.function, description, parameters } }
    case 'responses': return { type: 'function', name, description, parameters, strict: isStrict === true }
    case 'anthropic': return { name, description, input_schema: parameters, ...strictness }
    case 'gemini': return { name: geminiName(name), description, parametersJsonSchema: parameters }
    // Bedrock refuses a description without letters, and all tools of the request with it.
    case 'bedrock': return {
      toolSpec: { name, description: description.trim() === '' ? name : description, inputSchema: { json: parameters }, ...strictness }
    }
  }
}
