import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleanup } from '../support/cleanup.ts'
import { listening } from '../support/listening.ts'

/** A proxy, and how many requests each port has answered. */
interface SmallProxy {
  address: string
  served: Map<string, number>
}

/** A proxy before replicas that takes them in turn, and the next one when no connection comes about; answers are passed on as they come. */
export async function startSmallProxy (t: Cleanup, ports: readonly string[]): Promise<SmallProxy> {
  const served = new Map<string, number>()
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    void readAll(incoming).then(body => { send({ incoming, outgoing, body, served }, ports.map((_, index) => ports[(turn + index) % ports.length] ?? '')) })
    turn++
  })
  await listening(t, server)
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, served }
}

interface Exchange { incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer, served: Map<string, number> }

function send (exchange: Exchange, [port, ...others]: string[]): void {
  const { incoming, outgoing, body, served } = exchange
  if (port === undefined) {
    outgoing.writeHead(503).end('no replica')
    return
  }
  const headers = { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress, 'x-forwarded-proto': 'http' }
  const upstream = request({ host: '127.0.0.1', port, method: incoming.method, path: incoming.url, headers, agent: false }, answer => {
    served.set(port, (served.get(port) ?? 0) + 1)
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  outgoing.once('close', () => { upstream.destroy() })
  upstream.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED') send(exchange, others)
    else outgoing.destroy()
  })
  upstream.end(body)
}

async function readAll (stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
