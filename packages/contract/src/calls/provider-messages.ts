import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

export const ChatMessage = Type.Object({
  role: Type.Literal('tool'),
  tool_call_id: Type.String(),
  tool_name: Type.Optional(Type.String({ description: 'For Ollama, which knows answers by the name of their tool.' })),
  content: Type.String()
})
export type ChatMessage = Static<typeof ChatMessage>

const dataUrl = Type.String({ description: 'A small image of a session that the tool has returned, as a `data:` URL.' })

/** A text, or with images a text and these. */
const ResponsesOutput = Type.Union([Type.String(), Type.Array(Type.Union([
  Type.Object({ type: Type.Literal('input_text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('input_image'), image_url: dataUrl, detail: Type.Literal('auto') })
]))])

export const ResponsesMessage = Type.Object({
  type: Type.Enum(['function_call_output', 'custom_tool_call_output']),
  call_id: Type.String(),
  caller: Type.Optional(Type.Object(
    { type: Type.Literal('program'), caller_id: Type.String() },
    { description: 'Of a call that a program of the model has made.' }
  )),
  output: ResponsesOutput
})
export type ResponsesMessage = Static<typeof ResponsesMessage>

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

const GeminiResponse = Type.Object({
  id: Type.Optional(Type.String()),
  name: Type.String(),
  response: Type.Record(Type.String(), Type.Unknown())
})

/** The answers to all calls of a content, for Gemini: `functionResponse`, or `function_response` where the calls were written so. */
export const GeminiMessage = Type.Object({
  role: Type.Literal('user'),
  parts: Type.Array(Type.Union([
    Type.Object({ functionResponse: GeminiResponse }), Type.Object({ function_response: GeminiResponse })
  ]))
})
export type GeminiMessage = Static<typeof GeminiMessage>

/** The answers to all calls of a message, for Bedrock. */
export const BedrockMessage = Type.Object({
  role: Type.Literal('user'),
  content: Type.Array(Type.Object({
    toolResult: Type.Object({
      toolUseId: Type.String(),
      content: Type.Array(Type.Object({ text: Type.String() })),
      status: Type.Enum(['success', 'error'])
    })
  }))
})
export type BedrockMessage = Static<typeof BedrockMessage>

export const LangChainMessage = Type.Object({
  role: Type.Literal('tool'),
  tool_call_id: Type.String(),
  name: Type.String(),
  content: Type.String(),
  status: Type.Enum(['success', 'error'])
})
export type LangChainMessage = Static<typeof LangChainMessage>

/** The answers to all calls of a message, for the AI SDK; its version 4 has `result` and `isError` in place of `output`. */
export const AiSdkMessage = Type.Object({
  role: Type.Literal('tool'),
  content: Type.Array(Type.Object({
    type: Type.Literal('tool-result'),
    toolCallId: Type.String(),
    toolName: Type.String(),
    output: Type.Optional(Type.Object({ type: Type.Enum(['text', 'error-text']), value: Type.String() })),
    result: Type.Optional(Type.String()),
    isError: Type.Optional(Type.Literal(true))
  }))
})
export type AiSdkMessage = Static<typeof AiSdkMessage>

/** The answer to one call, for the TypeScript libraries of Mistral and Cohere. */
export const MistralMessage = Type.Object({
  role: Type.Literal('tool'),
  toolCallId: Type.String(),
  name: Type.String(),
  content: Type.String()
})
export type MistralMessage = Static<typeof MistralMessage>

/** The answer to the `function_call` of older chat completions. */
export const FunctionMessage = Type.Object({ role: Type.Literal('function'), name: Type.String(), content: Type.String() })
export type FunctionMessage = Static<typeof FunctionMessage>

/** For the conversation with a provider: one for each call. */
export const ProviderMessage = Type.Union([
  ChatMessage, ResponsesMessage, AnthropicMessage, GeminiMessage, BedrockMessage, LangChainMessage, AiSdkMessage, MistralMessage,
  FunctionMessage
])
export type ProviderMessage = Static<typeof ProviderMessage>
