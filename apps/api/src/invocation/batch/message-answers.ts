import type { AnthropicMessage, BatchEntry, CallResult, InvokeBatchResponse, MessageFormat, ProviderMessage } from '@toolyard/contract'
import type { ReturnedImage } from '../../files/returned-images.ts'

/** One call and what the model is told of it. */
interface Answered {
  id: string
  text: string
  /** Small ones that the tool has returned; chat completions take none from tools. */
  images: readonly ReturnedImage[]
  failed: boolean
  custom: boolean
}

/** What messages have beside the answers. */
export interface MessageParts {
  hint: string
  /** Of each call. */
  images: ReadonlyArray<readonly ReturnedImage[]>
}

/**
 * Adds to a batch's answer what is appended to the conversation with a provider: one answer for each call, also for one that
 * goes on; `hint` is what such an answer says of coming back.
 */
export function withMessages (
  answer: InvokeBatchResponse, calls: readonly BatchEntry[], format: MessageFormat | undefined, { hint, images }: MessageParts
): InvokeBatchResponse {
  if (format === undefined) return answer
  const answered = answer.results.map((result, index) => ({
    id: result.call_id,
    text: textOf(result, answer.tool_messages[index]?.content, hint),
    images: images[index] ?? [],
    failed: !result.ok && result.pending !== true,
    custom: calls[index]?.custom === true
  }))
  return { ...answer, messages: shapes[format](answered) }
}

const shapes: Readonly<Record<MessageFormat, (answered: readonly Answered[]) => ProviderMessage[]>> = {
  chat: answered => answered.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  responses: answered => answered.map(({ id, text, images, custom }) => ({
    type: custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id,
    output: images.length === 0 ? text : [{ type: 'input_text', text }, ...images.map(responsesImage)]
  })),
  anthropic: answered => answered.length === 0
    ? []
    : [{ role: 'user', content: answered.map(anthropicResult) }]
}

function responsesImage ({ type, data }: ReturnedImage): { type: 'input_image', image_url: string, detail: 'auto' } {
  return { type: 'input_image', image_url: `data:${type};base64,${data}`, detail: 'auto' }
}

function anthropicResult ({ id, text, images, failed }: Answered): AnthropicMessage['content'][number] {
  const blocks = images.map(({ type, data }) => ({ type: 'image' as const, source: { type: 'base64' as const, media_type: type, data } }))
  const content = blocks.length === 0 ? text : [{ type: 'text' as const, text }, ...blocks]
  return { type: 'tool_result', tool_use_id: id, content, ...(failed ? { is_error: true } : {}) }
}

/** What `tool_messages` says; in async mode, which has none, the same, and of a call that was started where its answer will be. */
function textOf (result: CallResult, content: string | undefined, hint: string): string {
  if (content !== undefined) return content
  const { name, ok, error, pending, job_id: jobId, job_type: jobType } = result
  if (pending === true) return JSON.stringify({ ok, pending, job_id: jobId, error, message: `Job ${jobId} still goes on${hint}` })
  if (!ok) return JSON.stringify({ ok, error })
  if (jobType === undefined) return JSON.stringify({ ok, result: result.output })
  const message = `Tool '${name}' was started as job ${jobId}: its output is not there yet${hint}`
  return JSON.stringify({ ok, pending: true, job_id: jobId, message })
}
