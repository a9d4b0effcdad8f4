import type { BatchEntry, CallResult, InvokeBatchResponse, MessageFormat, ProviderMessage } from '@toolyard/contract'

/** One call and what the model is told of it. */
interface Answered {
  id: string
  text: string
  failed: boolean
  custom: boolean
}

/** Adds to a batch's answer what is appended to the conversation with a provider: one answer for each call, also for one that goes on. */
export function withMessages (
  answer: InvokeBatchResponse, calls: readonly BatchEntry[], format: MessageFormat | undefined
): InvokeBatchResponse {
  if (format === undefined) return answer
  const answered = answer.results.map((result, index) => ({
    id: result.call_id,
    text: textOf(result, answer.tool_messages[index]?.content),
    failed: !result.ok && result.pending !== true,
    custom: calls[index]?.custom === true
  }))
  return { ...answer, messages: shapes[format](answered) }
}

const shapes: Readonly<Record<MessageFormat, (answered: readonly Answered[]) => ProviderMessage[]>> = {
  chat: answered => answered.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  responses: answered => answered.map(({ id, text, custom }) => ({ type: custom ? 'custom_tool_call_output' : 'function_call_output', call_id: id, output: text })),
  anthropic: answered => answered.length === 0
    ? []
    : [{ role: 'user', content: answered.map(({ id, text, failed }) => ({ type: 'tool_result', tool_use_id: id, content: text, ...(failed ? { is_error: true } : {}) })) }]
}

/** What `tool_messages` says, and of a call that goes on which tool it is and where its answer will be. */
function textOf (result: CallResult, content: string | undefined): string {
  const { name, ok, error, job_id: jobId } = result
  if (result.pending === true) {
    return JSON.stringify({ ok, pending: true, job_id: jobId, error: { ...error, message: `Tool '${name}' goes on as job ${jobId}: it did not complete within wait_ms` } })
  }
  if (content !== undefined) return content
  if (!ok) return JSON.stringify({ ok, error })
  return JSON.stringify({ ok, pending: true, job_id: jobId, message: `Tool '${name}' was started as job ${jobId}: its output is not there yet` })
}
