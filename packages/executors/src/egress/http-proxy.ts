import { createServer, request as send, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { takeAnswerInTurns, takeTurns } from '@toolyard/runtime'
import { canonicalHost } from '@toolyard/runtime/outgoing'
import type { CallBook, EgressCall } from './calls.ts'
import { EgressRefusal, type Gate } from './gate.ts'
import { targetText, type Target } from './target.ts'
import { carryTunnel } from './tunnel.ts'

/** The HTTP proxy of one network. */
export interface HttpProxy {
  /** Serves a connection of a program to the proxy itself. */
  serve (client: Socket): void
  /** Serves plain HTTP that a program speaks inside a tunnel. */
  serveTunnel (client: Socket, tunnel: InTunnel): void
  close (): void
}

interface InTunnel {
  target: Target
  by: EgressCall | undefined
}

/** Between two machines alone, so that no proxy hands them on. */
const hopByHop = new Set(['connection', 'host', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])
const idleMs = 600_000

/** Makes the HTTP proxy of one network. Node's own parser reads all requests and answers; none is handed on as it came. */
export function createHttpProxy (gate: Gate, calls: CallBook): HttpProxy {
  const tunnels = new WeakMap<Socket, InTunnel>()
  const server: Server = createServer({ keepAlive: true }, (request, response) => {
    const by = tunnels.get(request.socket)?.by ?? calls.find(tokenOf(request))
    forward(request, response, tunnels.get(request.socket), { gate, by }).catch((error: unknown) => { answerRefusal(response, error) })
  })
  server.timeout = idleMs
  takeTurns(server)
  server.on('connect', (request, client, head) => {
    if (!(client instanceof Socket)) return client.destroy()
    connect(request, client, head).catch((error: unknown) => { endWith(client, error) })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, client) => {
    if (error.code === 'ECONNRESET' || !client.writable) return client.destroy()
    client.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
  })

  async function connect (request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    client.on('error', () => {})
    const by = calls.find(tokenOf(request))
    const target = targetOf(request.url ?? '')
    if (target === undefined || tunnels.has(client)) throw new EgressRefusal(403, 'egress: denied a CONNECT that names no host and port')
    const rule = gate.admit(target, by)
    const upstream = await gate.open(target, by, client)
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    await carryTunnel({ client, head, target, rule, by }, upstream, gate, inside => { serveTunnel(inside, { target, by }) })
  }

  function serveTunnel (client: Socket, tunnel: InTunnel): void {
    tunnels.set(client, tunnel)
    server.emit('connection', client)
    client.resume()
  }

  return {
    serve: client => { server.emit('connection', client) },
    serveTunnel,
    close: () => { server.closeAllConnections() }
  }
}

/** `host:port` of a CONNECT. */
function targetOf (authority: string): Target | undefined {
  const match = /^(.+):(\d{1,5})$/.exec(authority)
  const host = match === null ? undefined : canonicalHost(match[1] ?? '')
  const port = Number(match?.[2])
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}

/** Programs name their call as the user or the password of the proxy's address. */
function tokenOf ({ headers }: IncomingMessage): string | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/=]{1,200})$/i.exec(headers['proxy-authorization'] ?? '') ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1').split(':')[1]
}

/** Asks the host what the program asked, in a request of its own. */
async function forward (
  request: IncomingMessage, response: ServerResponse, tunnel: InTunnel | undefined, { gate, by }: { gate: Gate, by: EgressCall | undefined }
): Promise<void> {
  request.on('error', () => {})
  response.on('error', () => {})
  const { target, path } = destinationOf(request, tunnel, gate, by)
  gate.admit(target, by)
  const upstream = await gate.open(target, by, request.socket)
  await new Promise<void>((resolve, reject) => {
    const outgoing = send({
      createConnection: () => upstream,
      method: request.method,
      path,
      headers: [...endToEnd(request), 'host', targetText(target).replace(/:80$/, ''), 'connection', 'close'],
      setHost: false
    })
    takeAnswerInTurns(outgoing)
    response.once('close', () => {
      outgoing.destroy()
      resolve()
    })
    outgoing.once('error', error => { reject(new EgressRefusal(502, `egress: ${targetText(target)} did not answer (${'code' in error ? String(error.code) : 'unknown'})`)) })
    outgoing.once('response', answer => {
      answer.on('error', () => { response.destroy() })
      response.writeHead(answer.statusCode ?? 502, undefined, endToEnd(answer))
      answer.pipe(response)
    })
    request.pipe(outgoing)
  })
}

/** What the request line and Host say must agree, and with the tunnel that it is in. */
function destinationOf (
  request: IncomingMessage, tunnel: InTunnel | undefined, gate: Gate, by: EgressCall | undefined
): { target: Target, path: string } {
  const url = request.url ?? ''
  const isAbsolute = /^http:\/\//i.test(url)
  const hosts = request.rawHeaders.filter((_, index) => index % 2 === 1 && request.rawHeaders[index - 1]?.toLowerCase() === 'host')
  const named = hosts.length === 1 ? httpTarget(hosts[0] ?? '') : undefined
  const parsed = isAbsolute && URL.canParse(url) ? new URL(url) : undefined
  const lined = parsed === undefined || parsed.username !== '' || parsed.password !== '' ? undefined : httpTarget(parsed.host)
  const target = tunnel?.target ?? lined
  if (target === undefined || named === undefined || (isAbsolute ? lined === undefined : !url.startsWith('/'))) {
    throw new EgressRefusal(403, 'egress: denied a request that names no host, two, or none over http://')
  }
  for (const each of [named, ...lined === undefined ? [] : [lined]]) {
    if (targetText(each) !== targetText(target)) throw gate.refuse(target, by, `: the request names another host, ${JSON.stringify(targetText(each).slice(0, 80))}`)
  }
  return { target, path: parsed === undefined ? url : `${parsed.pathname}${parsed.search}` }
}

function httpTarget (authority: string): Target | undefined {
  return targetOf(/:\d{1,5}$/.test(authority) ? authority : `${authority}:80`)
}

/** Headers as they were written, without those that are about one connection. A body keeps its length, or goes in pieces. */
function endToEnd ({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set((headers.connection ?? '').toLowerCase().split(',').map(name => name.trim()))
  const kept = rawHeaders.flatMap((name, index) => {
    const plain = name.toLowerCase()
    const stays = index % 2 === 0 && !hopByHop.has(plain) && (plain === 'content-length' || !named.has(plain))
    return stays ? [name, rawHeaders[index + 1] ?? ''] : []
  })
  return headers['transfer-encoding'] === undefined ? kept : [...kept, 'transfer-encoding', 'chunked']
}

function answerRefusal (response: ServerResponse, error: unknown): void {
  const { status, message } = refusalOf(error)
  if (response.headersSent || response.destroyed) return void response.destroy()
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${message}\n`)
}

function endWith (client: Socket, error: unknown): void {
  const { status, message } = refusalOf(error)
  const body = `${message}\n`
  client.end(`HTTP/1.1 ${status} ${status === 403 ? 'Forbidden' : 'Bad Gateway'}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`)
}

/** @throws what is no refusal: a bug. */
function refusalOf (error: unknown): EgressRefusal {
  if (error instanceof EgressRefusal) return error
  return new EgressRefusal(502, `egress: the request could not be made (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'})`)
}
