import { post, initialize, type RpcAnswer } from './clients.ts'

interface Message {
  id?: unknown
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
}

/** A client of 2025 that says each message by itself, to any process. */
interface RawSession {
  /** Opens a call, whose messages come one after the other. */
  call: (address: string, name: string, args?: object, id?: string) => Promise<{ next: () => Promise<Message>, leave: () => void }>
  /** A text is sent as it is. */
  say: (address: string, message: object | string) => Promise<RpcAnswer>
}

export async function rawSession (address: string, key: string, capabilities: object): Promise<RawSession> {
  const begin = { ...initialize, params: { ...initialize.params, capabilities } }
  const session = (await post(`${address}/mcp`, begin, { 'x-api-key': key })).headers.get('mcp-session-id') ?? ''
  const headers = {
    'x-api-key': key,
    'mcp-session-id': session,
    'mcp-protocol-version': '2025-11-25',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream'
  }
  return {
    say: async (to, message) => await post(`${to}/mcp`, typeof message === 'string' ? message : { jsonrpc: '2.0', ...message }, headers),
    async call (to, name, args = {}, id = 'call') {
      const leaving = new AbortController()
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })
      const response = await fetch(`${to}/mcp`, { method: 'POST', headers, body, signal: leaving.signal })
      const messages = messagesOf(response)
      return {
        next: async () => {
          const { value } = await messages.next()
          if (value === undefined) throw new Error('The stream has ended')
          return value
        },
        leave: () => { leaving.abort() }
      }
    }
  }
}

async function * messagesOf ({ body }: Response): AsyncGenerator<Message, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body ?? []) {
    text += decoder.decode(piece, { stream: true })
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: {')) yield JSON.parse(line.slice(6)) as Message
  }
  return undefined
}
