import { createServer, request as send, type ClientRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { takeAnswerInTurns, takeTurns } from '@toolyard/runtime'
import type { HeaderSecret } from '../run/header-secret.ts'
import type { CallTable, EgressCall } from './calls.ts'
import { answerTls, type Answering } from './answer-tls.ts'
import type { Connector, InTurn } from './connector.ts'
import { askingWhole, createMask, lookedAtInTurns, mostHeaderChars, withValues } from './placeholders.ts'
import { answerRefusal, EgressRefusal, endWith, targetOf, targetText, type Target } from './target.ts'
import { carryTunnel, type Tunnel } from './tunnel.ts'

export interface HttpProxy {
  /** Serves a connection of a program to the proxy itself. */
  serve (client: Socket): void
  /** Carries a tunnel to its end, if its host is admitted. `onOpen` is called when it is. @throws EgressRefusal. */
  carry (tunnel: Tunnel, onOpen: () => void): Promise<void>
  close (): void
}

/** HTTP that a program speaks inside a tunnel. */
interface InTunnel {
  target: Target
  by: EgressCall | undefined
  isSecure: boolean
  asked: boolean
}

interface Means {
  connector: Connector
  calls: CallTable
  inTurn: InTurn | undefined
  by: EgressCall | undefined
}

/** Between two machines alone, so that no proxy hands them on. */
const hopByHop = new Set(['connection', 'host', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])
/** Requests of one connection that wait for the answer to another one; apt sends ten in one go. With more of them it is cut off. */
const mostWaiting = 16
const idleMs = 600_000
/** Until a request is there, the greeting of TLS before it included. */
const headersMs = 60_000

/**
 * Makes the HTTP proxy of one network. Node's own parser reads all requests and answers; none is handed on as it came.
 *
 * @param answering absent where no call has secrets for headers
 */
export function createHttpProxy (connector: Connector, calls: CallTable, answering?: Answering): HttpProxy {
  const means = { connector, calls, inTurn: answering?.inTurn }
  const tunnels = new WeakMap<Socket, InTunnel>()
  const turns = new WeakMap<Socket, { last: Promise<void>, waiting: number }>()
  // A large body may take longer than the 5 minutes of Node; one that rests is cut off.
  const server: Server = createServer({ keepAlive: true, requestTimeout: 0, headersTimeout: headersMs }, (request, response) => {
    const tunnel = tunnels.get(request.socket)
    if (tunnel !== undefined) tunnel.asked = true
    const by = tunnel?.by ?? calls.find(tokenOf(request))
    inTurn(request.socket, async () => {
      await forward(request, response, tunnel, { ...means, by }).catch((error: unknown) => { answerRefusal(response, error) })
    })
  })
  server.timeout = idleMs
  // Node leaves out what is behind the 2,000th, also the length of a body. Their bytes are bounded.
  server.maxHeadersCount = 0
  takeTurns(server)
  server.on('connect', (request, client, head) => {
    if (!(client instanceof Socket)) return client.destroy()
    connect(request, client, head).catch((error: unknown) => { endWith(client, error) })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, client) => {
    if (error.code === 'ECONNRESET' || !client.writable) return client.destroy()
    client.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
  })

  /** Requests that come before the answer to the last one: each would be one more connection to a host. */
  function inTurn (client: Socket, act: () => Promise<void>): void {
    const turn = turns.get(client) ?? { last: Promise.resolve(), waiting: 0 }
    if (turn.waiting > mostWaiting) return void client.destroy()
    turn.waiting += 1
    turn.last = turn.last.then(async () => {
      if (!client.destroyed) await act()
      turn.waiting -= 1
    })
    turns.set(client, turn)
  }

  async function connect (request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    client.on('error', () => {})
    const by = calls.find(tokenOf(request))
    const target = targetOf(request.url ?? '')
    if (target === undefined || tunnels.has(client)) throw new EgressRefusal(403, 'egress: denied a CONNECT that names no host and port')
    await carry({ client, head, target, by }, () => { client.write('HTTP/1.1 200 Connection Established\r\n\r\n') })
  }

  async function carry (tunnel: Tunnel, onOpen: () => void): Promise<void> {
    const { target, by } = tunnel
    const rule = connector.admit(target, by)
    const upstream = calls.secretsFor(target).length === 0 ? await connector.open(target, by, tunnel.client) : undefined
    onOpen()
    await carryTunnel(tunnel, { rule, upstream }, connector, {
      http: client => { serveInside(client, { target, by, isSecure: false, asked: false }) },
      tls: client => { openTls(client, tunnel).catch(() => { client.destroy() }) }
    })
  }

  async function openTls (client: Socket, { target, by }: Tunnel): Promise<void> {
    await answering?.inTurn()
    const context = await (await answering?.authority())?.contextOf(target.host)
    if (context === undefined || client.destroyed) return void client.destroy()
    answerTls(client, context, {
      serve (secure) {
        const inside = { target, by, isSecure: true, asked: false }
        serveInside(secure, inside)
        return { asked: () => inside.asked }
      },
      refused (why) {
        connector.refuse(target, by, `: the program does not take the certificate that the worker answers with (${why}); let it trust those of SSL_CERT_FILE, or take the secret "as": "env"`)
      }
    })
  }

  function serveInside (client: Socket, tunnel: InTunnel): void {
    tunnels.set(client, tunnel)
    server.emit('connection', client)
    client.resume()
  }

  return {
    serve: client => { server.emit('connection', client) },
    carry,
    close: () => { server.closeAllConnections() }
  }
}

/** Programs name their call as the user or the password of the proxy's address. */
function tokenOf ({ headers }: IncomingMessage): string | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/=]{1,200})$/i.exec(headers['proxy-authorization'] ?? '') ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1').split(':')[1]
}

/** Asks the host what the program asked, in a request of its own. */
async function forward (
  request: IncomingMessage, response: ServerResponse, tunnel: InTunnel | undefined, { connector, calls, inTurn, by }: Means
): Promise<void> {
  request.on('error', () => {})
  response.on('error', () => {})
  const { target, path } = destinationOf(request, tunnel, connector, by)
  connector.admit(target, by)
  const isSecure = tunnel?.isSecure === true
  const written = endToEnd(request)
  const secrets = calls.secretsFor(target)
  // The answer to TRACE has the headers of the request.
  const headers = request.method === 'TRACE' ? written : withValues(written, secrets)
  if (!isSecure && !connector.isInside(target.host) && headers.some((text, index) => text !== written[index])) {
    throw connector.refuse(target, by, ': its requests carry a secret, and go over https alone; HTTP_PRIVATE_HOSTS of the workers names hosts that may be inside')
  }
  const isIn = (secret: HeaderSecret): boolean => withValues(written, [secret]).some((text, index) => text !== written[index])
  const used = headers === written ? [] : secrets.filter(isIn)
  if (used.length > 0 && headers.reduce((sum, text) => sum + text.length, 0) > mostHeaderChars) {
    throw connector.refuse(target, by, `: the headers of a request are longer than ${mostHeaderChars} characters with the secrets in them`)
  }
  const mask = used.length === 0 ? undefined : createMask(used, headers.filter((text, index) => text !== written[index]))
  const upstream = isSecure ? await connector.openSecure(target, by, request.socket) : await connector.open(target, by, request.socket)
  const gone = await firstGone(used).catch((error: unknown) => {
    upstream.destroy()
    throw error
  })
  if (gone !== undefined) {
    upstream.destroy()
    throw connector.refuse(target, by, `: the secret ${gone} was removed or changed after the call began`)
  }
  const outgoing = send({
    createConnection: () => upstream,
    method: request.method,
    path,
    headers: [...mask === undefined ? headers : askingWhole(headers), 'host', targetText(target).replace(isSecure ? /:443$/ : /:80$/, ''), 'connection', 'close'],
    setHost: false
  })
  takeAnswerInTurns(outgoing)
  const closed = new Promise<void>(resolve => {
    response.once('close', () => {
      outgoing.destroy()
      resolve()
    })
  })
  const answering = answerOf(outgoing, target, () => { response.destroy() })
  request.pipe(outgoing)
  const answer = await Promise.race([answering, closed])
  if (answer === undefined) return
  // It throws for what no server may answer, such as the status 000.
  response.writeHead(answer.statusCode ?? 502, undefined, mask === undefined ? endToEnd(answer) : mask.headers(endToEnd(answer)))
  if (mask === undefined) answer.pipe(response)
  else answer.pipe(lookedAtInTurns(inTurn)).pipe(mask.body()).pipe(response)
  await closed
}

/** The answer of a host. One that ends without any, or changes to another protocol, has not answered. */
async function answerOf (outgoing: ClientRequest, target: Target, onError: () => void): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const fail = (why: string): void => { reject(new EgressRefusal(502, `egress: ${targetText(target)} did not answer (${why})`)) }
    outgoing.on('error', error => { fail('code' in error ? String(error.code) : 'unknown') })
    outgoing.once('close', () => { fail('closed') })
    outgoing.once('response', answer => {
      answer.on('error', onError)
      resolve(answer)
    })
  })
}

/** The name of a secret that a call has, and that isn't stored any more as it has it. */
async function firstGone (secrets: readonly HeaderSecret[]): Promise<string | undefined> {
  const areCurrent = await Promise.all(secrets.map(async ({ isCurrent }) => await isCurrent()))
  return secrets[areCurrent.indexOf(false)]?.name
}

/** The request line and Host must agree, and with the tunnel that they are in. */
function destinationOf (
  request: IncomingMessage, tunnel: InTunnel | undefined, connector: Connector, by: EgressCall | undefined
): { target: Target, path: string } {
  const url = request.url ?? ''
  const isAbsolute = tunnel?.isSecure !== true && /^http:\/\//i.test(url)
  const usual = tunnel?.isSecure === true ? 443 : 80
  const hosts = request.rawHeaders.filter((_, index) => index % 2 === 1 && request.rawHeaders[index - 1]?.toLowerCase() === 'host')
  const named = hosts.length === 1 ? targetOf(hosts[0] ?? '', usual) : undefined
  const parsed = isAbsolute && URL.canParse(url) ? new URL(url) : undefined
  const lined = parsed === undefined || parsed.username !== '' || parsed.password !== '' ? undefined : targetOf(parsed.host, usual)
  const target = tunnel?.target ?? lined
  if (target === undefined || named === undefined || (isAbsolute ? lined === undefined : !url.startsWith('/'))) {
    throw new EgressRefusal(403, 'egress: denied a request that names no host, two, or none over http://')
  }
  for (const each of [named, ...lined === undefined ? [] : [lined]]) {
    if (targetText(each) !== targetText(target)) throw connector.refuse(target, by, `: the request names another host, ${JSON.stringify(targetText(each).slice(0, 80))}`)
  }
  return { target, path: parsed === undefined ? url : `${parsed.pathname}${parsed.search}` }
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
