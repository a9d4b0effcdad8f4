import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

/** Whose shape a list of tools can have. */
export const toolFormats = ['chat', 'responses', 'anthropic'] as const
export type ToolFormat = (typeof toolFormats)[number]

const AnySchema = Type.Record(Type.String(), Type.Unknown())

/** A tool as the Responses API takes it. `strict` is always said: left out, it means true there. */
export const ResponsesTool = Type.Object({
  type: Type.Literal('function'),
  name: Type.String(),
  description: Type.String(),
  parameters: AnySchema,
  strict: Type.Boolean()
})
export type ResponsesTool = Static<typeof ResponsesTool>

/** A tool as Anthropic's API takes it. */
export const AnthropicTool = Type.Object({
  name: Type.String(),
  description: Type.String(),
  input_schema: AnySchema,
  strict: Type.Optional(Type.Literal(true, { description: 'With ?strict=true, for tools whose schema allows it.' }))
})
export type AnthropicTool = Static<typeof AnthropicTool>

/** `GET /v1/agent-tools?format=responses`. */
export const ResponsesToolList = Type.Object({ ok: Type.Literal(true), tools: Type.Array(ResponsesTool), count: Type.Integer() })
export type ResponsesToolList = Static<typeof ResponsesToolList>

/** `GET /v1/agent-tools?format=anthropic`. */
export const AnthropicToolList = Type.Object({ ok: Type.Literal(true), tools: Type.Array(AnthropicTool), count: Type.Integer() })
export type AnthropicToolList = Static<typeof AnthropicToolList>
