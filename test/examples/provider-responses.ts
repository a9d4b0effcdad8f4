import { pieces, type Frame, type Provider } from './model-server.ts'
import type { Turn } from './script.ts'

interface Body {
  input: Array<{ type?: string, call_id?: string, output?: string | Array<{ text: string }> }>
  tools?: Array<{ type: string, name: string, parameters?: unknown }>
}

type Item =
  | { id: string, type: 'message', role: string, status: string, content: Array<{ type: string, text: string, annotations: never[] }> }
  | { id: string, type: 'function_call', call_id: string, name: string, arguments: string, status: string }

/** The Responses API. */
export const responses: Provider = {
  read: ({ input, tools = [] }: Body) => ({
    called: input.flatMap(({ type, call_id: id = '' }) => type === 'function_call' ? [id] : []),
    answered: input.flatMap(({ type, call_id: id = '', output = '' }) => (
      type === 'function_call_output' ? [{ id, text: typeof output === 'string' ? output : output.map(({ text }) => text).join('') }] : []
    )),
    tools: tools.flatMap(({ type, name, parameters }) => type === 'function' && typeof parameters === 'object' ? [name] : [])
  }),
  whole: (turn, at) => response(itemsOf(turn, at), 'completed'),
  stream: (turn, at) => {
    const items = itemsOf(turn, at)
    const events = [
      { type: 'response.created', response: response([], 'in_progress') },
      ...items.flatMap((item, index) => [
        { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress', ...(item.type === 'message' ? { content: [] } : { arguments: '' }) } },
        ...(item.type === 'message' ? textEvents(item.content[0]?.text ?? '') : callEvents(item.arguments)).map(event => ({ ...event, output_index: index, item_id: item.id })),
        { type: 'response.output_item.done', output_index: index, item }
      ]),
      { type: 'response.completed', response: response(items, 'completed') }
    ]
    return events.map((event, index): Frame => ({ event: event.type, data: { ...event, sequence_number: index } }))
  }
}

function itemsOf (turn: Turn, at: number): Item[] {
  if ('text' in turn) {
    return [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: turn.text, annotations: [] }] }]
  }
  return turn.calls.map(({ id, name, args }, index) => (
    { id: `fc_${at}_${index}`, type: 'function_call', call_id: id, name, arguments: JSON.stringify(args), status: 'completed' }
  ))
}

function textEvents (text: string): Array<{ type: string }> {
  const part = { type: 'output_text', text: '', annotations: [] }
  return [
    { type: 'response.content_part.added', content_index: 0, part },
    ...pieces(text).map(delta => ({ type: 'response.output_text.delta', content_index: 0, delta, logprobs: [] })),
    { type: 'response.output_text.done', content_index: 0, text, logprobs: [] },
    { type: 'response.content_part.done', content_index: 0, part: { ...part, text } }
  ] as Array<{ type: string }>
}

function callEvents (text: string): Array<{ type: string, delta?: string, arguments?: string }> {
  return [
    ...pieces(text).map(delta => ({ type: 'response.function_call_arguments.delta', delta })),
    { type: 'response.function_call_arguments.done', arguments: text }
  ]
}

function response (output: readonly Item[], status: string): object {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_767_225_600,
    model: 'scripted',
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2
    }
  }
}
