import { pieces, type Provider } from './model-server.ts'

interface Body {
  messages: Array<{ role: string, content?: string, tool_call_id?: string, tool_calls?: Array<{ id: string }> }>
  tools?: Array<{ type: string, function?: { name: string, parameters?: unknown } }>
}

/** Chat completions. */
export const chat: Provider = {
  read: ({ messages, tools = [] }: Body) => ({
    called: messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id)),
    answered: messages.filter(({ role }) => role === 'tool').map(({ tool_call_id: id = '', content = '' }) => ({ id, text: content })),
    tools: tools.flatMap(({ type, function: spec }) => type === 'function' && typeof spec?.parameters === 'object' ? [spec.name] : [])
  }),
  whole: turn => ({
    ...head,
    object: 'chat.completion',
    choices: [{
      index: 0,
      finish_reason: 'calls' in turn ? 'tool_calls' : 'stop',
      message: {
        role: 'assistant',
        refusal: null,
        ...('text' in turn ? { content: turn.text } : { content: null, tool_calls: turn.calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } })) })
      }
    }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  }),
  stream: turn => {
    const deltas = 'text' in turn
      ? pieces(turn.text).map(content => ({ content }))
      : turn.calls.flatMap(({ id, name, args }, index) => [
          { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
          ...pieces(JSON.stringify(args)).map(piece => ({ tool_calls: [{ index, function: { arguments: piece } }] }))
        ])
    return [
      ...[{ role: 'assistant', content: null }, ...deltas].map(delta => chunk(delta, null)),
      chunk({}, 'calls' in turn ? 'tool_calls' : 'stop'),
      { data: '[DONE]' }
    ]
  }
}

const head = { id: 'chatcmpl-1', created: 1_767_225_600, model: 'scripted' }

function chunk (delta: object, finish: string | null): { data: object } {
  return { data: { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] } }
}
