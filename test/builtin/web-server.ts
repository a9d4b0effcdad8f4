import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { listening } from '../support/listening.ts'

export interface WebServer {
  port: number
  url: string
  requests: IncomingMessage[]
}

export async function startWebServer (t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<WebServer> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  const port = await listening(t, server)
  return { port, url: `http://127.0.0.1:${port}`, requests }
}
