import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

/** The answer to one call, for chat completions. */
export const ChatMessage = Type.Object({
  role: Type.Literal('tool'),
  tool_call_id: Type.String(),
  content: Type.String()
})
export type ChatMessage = Static<typeof ChatMessage>

const dataUrl = Type.String({ description: 'A small image of a session that the tool has returned, as a `data:` URL.' })

/** What the Responses API is told of a call: a text, or with images a text and these. */
const ResponsesOutput = Type.Union([Type.String(), Type.Array(Type.Union([
  Type.Object({ type: Type.Literal('input_text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('input_image'), image_url: dataUrl, detail: Type.Literal('auto') })
]))])

/** The answer to one call, for the Responses API. */
export const ResponsesMessage = Type.Object({
  type: Type.Enum(['function_call_output', 'custom_tool_call_output']),
  call_id: Type.String(),
  output: ResponsesOutput
})
export type ResponsesMessage = Static<typeof ResponsesMessage>

/** What Anthropic's API is told of a call. */
const AnthropicContent = Type.Union([Type.String(), Type.Array(Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({
    type: Type.Literal('image'),
    source: Type.Object({ type: Type.Literal('base64'), media_type: Type.String(), data: Type.String() })
  })
]))])

/** The answers to all calls of a message, for Anthropic's API, which wants them in one. */
export const AnthropicMessage = Type.Object({
  role: Type.Literal('user'),
  content: Type.Array(Type.Object({
    type: Type.Literal('tool_result'),
    tool_use_id: Type.String(),
    content: AnthropicContent,
    is_error: Type.Optional(Type.Literal(true))
  }))
})
export type AnthropicMessage = Static<typeof AnthropicMessage>

/** What is appended to the conversation with a provider: there is one answer for each call. */
export const ProviderMessage = Type.Union([ChatMessage, ResponsesMessage, AnthropicMessage])
export type ProviderMessage = Static<typeof ProviderMessage>
