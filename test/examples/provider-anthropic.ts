import { pieces, type Frame, type Provider } from './model-server.ts'
import type { Turn } from './script.ts'

interface Block { type: string, id?: string, tool_use_id?: string, content?: string | Array<{ text: string }> }

interface Body {
  messages: Array<{ role: string, content: string | Block[] }>
  tools?: Array<{ name: string, input_schema?: { type?: string } }>
}

/** Anthropic's messages. */
export const anthropic: Provider = {
  read: ({ messages, tools = [] }: Body) => {
    const blocks = messages.flatMap(({ content }) => typeof content === 'string' ? [] : content)
    return {
      called: blocks.filter(({ type }) => type === 'tool_use').map(({ id = '' }) => id),
      answered: blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id = '', content = '' }) => (
        { id, text: typeof content === 'string' ? content : content.map(({ text }) => text).join('') }
      )),
      tools: tools.flatMap(({ name, input_schema: schema }) => schema?.type === 'object' ? [name] : [])
    }
  },
  whole: turn => ({ ...messageOf(turn), content: blocksOf(turn) }),
  stream: turn => {
    const events = [
      { type: 'message_start', message: { ...messageOf(turn), content: [], stop_reason: null } },
      ...blocksOf(turn).flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} } },
        ...(block.type === 'text'
          ? pieces(block.text).map(text => ({ type: 'text_delta', text }))
          : pieces(JSON.stringify(block.input)).map(json => ({ type: 'input_json_delta', partial_json: json }))
        ).map(delta => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index }
      ]),
      { type: 'message_delta', delta: { stop_reason: stopReason(turn), stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' }
    ]
    return events.map((data): Frame => ({ event: data.type, data }))
  }
}

function blocksOf (turn: Turn): Array<{ type: 'text', text: string } | { type: 'tool_use', id: string, name: string, input: object }> {
  if ('text' in turn) return [{ type: 'text', text: turn.text }]
  return turn.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))
}

function messageOf (turn: Turn): object {
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', stop_reason: stopReason(turn), stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } }
}

function stopReason (turn: Turn): string {
  return 'calls' in turn ? 'tool_use' : 'end_turn'
}
