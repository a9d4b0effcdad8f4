import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Cleanup } from '../support/cleanup.ts'
import { anthropic } from './provider-anthropic.ts'
import { chat } from './provider-chat.ts'
import { responses } from './provider-responses.ts'
import type { Script, Turn } from './script.ts'
import { listening } from '../support/listening.ts'

/** Calls of a request and their answers, by the ids of the calls. */
export interface Conversation {
  called: string[]
  answered: Array<{ id: string, text: string }>
  /** The names of the tools, where each has the provider's shape. */
  tools: string[]
}

export interface Frame { event?: string, data: unknown }

/** A provider's API: how a request is read, and how a turn is told, whole or as a stream. */
export interface Provider {
  read: (body: never) => Conversation
  whole: (turn: Turn, at: number) => object
  stream: (turn: Turn, at: number) => Frame[]
}

const providers: Record<string, Provider> = { '/v1/chat/completions': chat, '/v1/responses': responses, '/v1/messages': anthropic }

/** A model server under way. */
export interface ModelServer {
  address: string
  /** Refused by it. */
  faults: string[]
}

/**
 * Starts a server on loopback that speaks the APIs of the providers and says what the script has. As theirs do, it
 * refuses a request where a call has no answer, or more than one.
 */
export async function startModelServer (t: Cleanup, script: Script): Promise<ModelServer> {
  const faults: string[] = []
  const server = createServer((request, response) => {
    void text(request).then(async body => {
      const provider = providers[request.url?.split('?')[0] ?? '']
      const parsed = JSON.parse(body) as { stream?: boolean }
      const conversation = provider?.read(parsed as never)
      const fault = provider === undefined || conversation === undefined ? `no route ${request.url}` : faultOf(conversation)
      if (fault !== undefined) {
        faults.push(fault)
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: fault, type: 'invalid_request_error' } }))
        return
      }
      const { answered = [] } = conversation ?? {}
      const turn = await script(answered.map(answer => answer.text))
      if (parsed.stream === true) sendFrames(response, provider?.stream(turn, answered.length) ?? [])
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(provider?.whole(turn, answered.length)))
    })
  })
  return { address: `http://127.0.0.1:${await listening(t, server)}`, faults }
}

function faultOf ({ called, answered, tools }: Conversation): string | undefined {
  if (tools.length === 0) return 'the tools are not in the shape of this API'
  const answers = answered.map(({ id }) => id)
  return called.join() === answers.join() ? undefined : `calls ${called.join()} have the answers ${answers.join()}`
}

function sendFrames (response: ServerResponse, frames: readonly Frame[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { event, data } of frames) {
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  }
  response.end()
}

/** A text in pieces, as models stream them. */
export function pieces (whole: string): string[] {
  return whole.match(/.{1,7}/gs) ?? ['']
}
