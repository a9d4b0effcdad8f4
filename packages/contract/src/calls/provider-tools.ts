import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

export const toolFormats = ['chat', 'responses', 'anthropic', 'gemini', 'bedrock'] as const
export type ToolFormat = (typeof toolFormats)[number]

const AnySchema = Type.Record(Type.String(), Type.Unknown())

/** How much operators trust tools that were added from elsewhere, by their names; absent where there is none. */
export const ToolAudits = Type.Optional(Type.Record(Type.String(), Type.Enum(['experimental', 'trusted']), {
  description: 'Tools that toolyard add has added, and what their entries of the lock say; absent without any.'
}))

/** A tool as the Responses API takes it. `strict` is always said: left out, it means true there. */
export const ResponsesTool = Type.Object({
  type: Type.Literal('function'),
  name: Type.String(),
  description: Type.String(),
  parameters: AnySchema,
  strict: Type.Boolean(),
  defer_loading: Type.Optional(Type.Literal(true, { description: 'With ?defer, for tools that are not pinned.' }))
})
export type ResponsesTool = Static<typeof ResponsesTool>

export const AnthropicTool = Type.Object({
  name: Type.String(),
  description: Type.String(),
  input_schema: AnySchema,
  strict: Type.Optional(Type.Literal(true, { description: 'With ?strict=true, for tools whose schema allows it.' })),
  defer_loading: Type.Optional(Type.Literal(true, { description: 'With ?defer, for tools that are not pinned.' }))
})
export type AnthropicTool = Static<typeof AnthropicTool>

/** The search of the Responses API where tools are deferred, and namespaces of deferred functions. */
const ResponsesToolSearch = Type.Object({ type: Type.Literal('tool_search') })
const ResponsesNamespace = Type.Object({
  type: Type.Literal('namespace'), name: Type.String(), description: Type.String(), tools: Type.Array(ResponsesTool)
})
/** Anthropic's own search of deferred tools. */
const AnthropicToolSearch = Type.Object({ type: Type.Literal('tool_search_tool_bm25_20251119'), name: Type.Literal('tool_search_tool_bm25') })

/** `GET /v1/agent-tools?format=responses`. */
export const ResponsesToolList = Type.Object({
  ok: Type.Literal(true),
  tools: Type.Array(Type.Union([ResponsesTool, ResponsesNamespace, ResponsesToolSearch])),
  count: Type.Integer(),
  audit: ToolAudits
})
export type ResponsesToolList = Static<typeof ResponsesToolList>

/** `GET /v1/agent-tools?format=anthropic`. */
export const AnthropicToolList = Type.Object({
  ok: Type.Literal(true),
  tools: Type.Array(Type.Union([AnthropicTool, AnthropicToolSearch])),
  count: Type.Integer(),
  audit: ToolAudits
})
export type AnthropicToolList = Static<typeof AnthropicToolList>

/** A tool as Gemini's API takes it, within `functionDeclarations`. */
export const GeminiFunction = Type.Object({ name: Type.String(), description: Type.String(), parametersJsonSchema: AnySchema })
export type GeminiFunction = Static<typeof GeminiFunction>

/** `GET /v1/agent-tools?format=gemini`: all functions are in one tool, and where there is none, there is no tool. */
export const GeminiToolList = Type.Object({
  ok: Type.Literal(true),
  tools: Type.Array(Type.Object({ functionDeclarations: Type.Array(GeminiFunction) }), { maxItems: 1 }),
  count: Type.Integer(),
  audit: ToolAudits
})
export type GeminiToolList = Static<typeof GeminiToolList>

/** A tool as Bedrock's Converse takes it, in `toolConfig.tools`. */
export const BedrockTool = Type.Object({
  toolSpec: Type.Object({
    name: Type.String(),
    description: Type.String(),
    inputSchema: Type.Object({ json: AnySchema }),
    strict: Type.Optional(Type.Literal(true, { description: 'With ?strict=true, for tools whose schema allows it.' }))
  })
})
export type BedrockTool = Static<typeof BedrockTool>

/** `GET /v1/agent-tools?format=bedrock`. */
export const BedrockToolList = Type.Object({
  ok: Type.Literal(true),
  tools: Type.Array(BedrockTool),
  count: Type.Integer(),
  audit: ToolAudits
})
export type BedrockToolList = Static<typeof BedrockToolList>
