import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

interface Request {
  messages: Array<{ role: string, content?: string, tool_call_id?: string }>
  tools?: Array<{ function: { name: string } }>
}

/** A model that calls `greet` in its first turn, and tells in its second what was answered. */
export async function startModel (): Promise<{ url: string, requests: Request[], close: () => void }> {
  const requests: Request[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await json(request) as Request
    requests.push(body)
    const answers = body.messages.filter(({ role }) => role === 'tool')
    const message = answers.length === 0
      ? { role: 'assistant', content: null, tool_calls: [toolCall('1', 'greet', { name: 'Ada' })] }
      : { role: 'assistant', content: `the tools said ${answers.map(({ content }) => content).join(' and ')}` }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'gpt-5', choices: [{ index: 0, message, finish_reason: answers.length === 0 ? 'tool_calls' : 'stop' }] }))
  }
  const server = createServer((request, response) => { void answer(request, response) }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}/v1`, requests, close: () => { server.close() } }
}

function toolCall (id: string, name: string, args: object): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}
