import {
  around, type AiSdkMessage, type AnthropicMessage, type GeminiMessage, type MessageDialect, type MessageFormat, type ProviderMessage
} from '@toolyard/contract'
import type { ShownImage } from '../../outputs/shown-images.ts'

/** The message that a batch's calls came in. */
export interface MessageOrigin {
  format: MessageFormat
  /** Of each call, how it was written. */
  calls: ReadonlyArray<{ dialect: MessageDialect | undefined, program: string | undefined, hasId: boolean }>
}

/** One call and what the model is told of it. */
interface Answered {
  id: string
  /** The caller gave it. */
  hasId: boolean
  name: string
  content: Record<string, unknown>
  /** Its JSON. */
  text: string
  /** Small ones that the tool has returned; only some formats take any from tools. */
  images: readonly ShownImage[]
  failed: boolean
  dialect: MessageDialect | undefined
  program: string | undefined
}

/** Formats whose answers may hold images. */
export const imageFormats: readonly MessageFormat[] = ['responses', 'anthropic']

/** For the conversation with a provider: one answer for each call, also for one that goes on. */
export function providerMessages (format: MessageFormat, answered: readonly Answered[]): ProviderMessage[] {
  return answered.length === 0 ? [] : shapes[format](answered)
}

const shapes: Readonly<Record<MessageFormat, (answered: readonly Answered[]) => ProviderMessage[]>> = {
  chat: answered => answered.map(({ id, name, text, dialect }) => ({
    role: 'tool', tool_call_id: id, ...(dialect === 'ollama' ? { tool_name: name } : {}), content: text
  })),
  responses: answered => answered.map(({ id, text, images, dialect, program }) => ({
    type: dialect === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id,
    ...(program === undefined ? {} : { caller: { type: 'program', caller_id: program } }),
    output: images.length === 0 ? text : [{ type: 'input_text', text }, ...images.map(responsesImage)]
  })),
  anthropic: answered => [{ role: 'user', content: answered.map(anthropicResult) }],
  gemini: answered => around([around({ role: 'user' as const, parts: around(answered.map(geminiPart)) })]),
  bedrock: answered => [{
    role: 'user',
    content: answered.map(({ id, text, failed }) => ({ toolResult: { toolUseId: id, content: [{ text }], status: statusOf(failed) } }))
  }],
  langchain: answered => answered.map(({ id, name, text, failed }) => ({ role: 'tool', tool_call_id: id, name, content: text, status: statusOf(failed) })),
  'ai-sdk': answered => [{ role: 'tool', content: answered.map(aiSdkResult) }],
  mistral: answered => answered.map(({ id, name, text }) => ({ role: 'tool', toolCallId: id, name, content: text })),
  function: answered => answered.map(({ name, text }) => ({ role: 'function', name, content: text }))
}

function statusOf (failed: boolean): 'success' | 'error' {
  return failed ? 'error' : 'success'
}

/** Gemini takes an object; it has an id where the call had one. */
function geminiPart ({ id, hasId, name, content: response, dialect }: Answered): GeminiMessage['parts'][number] {
  const answer = around({ ...(hasId ? { id } : {}), name, response })
  return around(dialect === 'snake' ? { function_response: answer } : { functionResponse: answer })
}

function aiSdkResult ({ id, name, text, failed, dialect }: Answered): AiSdkMessage['content'][number] {
  const result = { type: 'tool-result' as const, toolCallId: id, toolName: name }
  if (dialect === 'ai-sdk-4') return { ...result, result: text, ...(failed ? { isError: true as const } : {}) }
  return { ...result, output: { type: failed ? 'error-text' : 'text', value: text } }
}

function responsesImage ({ type, data }: ShownImage): { type: 'input_image', image_url: string, detail: 'auto' } {
  return { type: 'input_image', image_url: `data:${type};base64,${data}`, detail: 'auto' }
}

function anthropicResult ({ id, text, images, failed }: Answered): AnthropicMessage['content'][number] {
  const blocks = images.map(({ type, data }) => ({ type: 'image' as const, source: { type: 'base64' as const, media_type: type, data } }))
  const content = blocks.length === 0 ? text : [{ type: 'text' as const, text }, ...blocks]
  return { type: 'tool_result', tool_use_id: id, content, ...(failed ? { is_error: true } : {}) }
}
