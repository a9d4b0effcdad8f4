import { HttpError } from '@toolyard/contract/terms'
import type { McpSessionState, RateLimit } from '@toolyard/store'
import { sharedAbort } from '@toolyard/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessTokens } from '../access/access-tokens.ts'
import { principalOf, requireSse, type Principal } from '../access/principal.ts'
import type { JobTypes } from '../catalog/job-types.ts'
import { countRequests } from '../plugins/load/rate-limit.ts'
import { isOwnOrigin } from '../plugins/site.ts'
import type { App } from '../plugins/typed-app.ts'
import type { EventStreams } from '../streams/event-streams.ts'
import { ChangeStreams } from './change-streams.ts'
import { placeOf, sendResponse, webRequest, type Exchange } from './call/exchange.ts'
import { callsIn, cancelledIn, changesIn, hasRepeatedId, isInitialize, isListen } from './messages.ts'
import { OpenCalls } from './call/open-calls.ts'
import type { Protocol, ProtocolParts } from './protocol.ts'
import { rpcCodes, RpcHttpError, sendRpcError } from './call/rpc-error.ts'
import { SessionIds } from './session-ids.ts'
import { ToolLists } from './call/tool-list.ts'

/** What MCP is served with. */
export interface McpRoutesOptions extends Omit<ProtocolParts, 'lists' | 'calls' | 'log'> {
  tokens: AccessTokens | undefined
  jobTypes: JobTypes
  streams: EventStreams
  /** Counts the messages of batches; undefined where there is no limit. */
  rateLimit: RateLimit | undefined
  /** Aborted when the process begins to stop: streams end, to be opened again at another one. */
  stopping: AbortSignal
}

const sessionHeader = 'mcp-session-id'
/** The revision without sessions. */
const statelessVersion = '2026-07-28'
/** The first revision without batches. A client that names none counts as one of the revision before. */
const singleVersion = '2025-06-18'
/** Messages of a batch. */
const mostMessages = 100

/**
 * The Model Context Protocol over streamable HTTP, in its revision 2026-07-28 and those of 2025. No process keeps anything
 * of a client between two requests.
 */
export async function mcpRoutes (app: App, options: McpRoutesOptions): Promise<void> {
  const { sessions, streams, stopping, catalog } = options
  const ids = new SessionIds()
  const calls = new OpenCalls()
  const changes = new ChangeStreams(streams, stopping)
  let loading: Promise<Protocol> | undefined

  async function load (): Promise<Protocol> {
    const [{ Protocol }, { onCatalogChange }] = await Promise.all([import('./protocol.ts'), import('./catalog-changes.ts')])
    const lists = new ToolLists(catalog, options.jobTypes)
    const protocol = new Protocol({ ...options, calls, lists, log: app.log })
    onCatalogChange(catalog, lists, change => {
      protocol.tell(change)
      changes.tell(change, async session => (await sessions.read(session)).watched ?? []).catch(() => {})
    })
    sessions.listen(notice => {
      if (notice.kind === 'cancelled') calls.cancel(notice.session, notice.request)
      else changes.endSession(notice.session, notice.kind === 'stream' ? notice.stream : undefined)
    })
    return protocol
  }

  /** The session that a request names, if it names one. */
  async function sessionOf (request: FastifyRequest): Promise<{ id: string | undefined } & McpSessionState> {
    const header = request.headers[sessionHeader]
    if (header === undefined) return { id: undefined }
    const id = ids.read(String(header), principalOf(request))
    const state: McpSessionState = id === undefined ? { ended: true } : await sessions.read(id)
    if (state.ended === true) {
      throw new RpcHttpError(
        404, rpcCodes.noSession, 'Session not found: it has ended, or was never begun with this key. Initialize a new one'
      )
    }
    return { id, ...state }
  }

  /** The answer names the scope that a token lacks, so that its client can ask for it. */
  function refuseReader (principal: Principal, reply: FastifyReply): never {
    const { tokens } = options
    if (tokens?.hasToken(principal) !== true) throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    const error = tokens.lacksScope('admin')
    void reply.header('www-authenticate', tokens.challenge(error))
    throw error
  }

  app.setErrorHandler(sendRpcError)
  app.addHook('onRequest', async request => { refuseForeignOrigin(request) })

  app.post('/mcp', { config: { makesWork: true, role: 'read' } }, async (request, reply) => {
    const { body } = request
    const principal = principalOf(request)
    if (principal.role !== 'admin' && changesIn(body)) refuseReader(principal, reply)
    const place = placeOf(request)
    if (Array.isArray(body)) {
      refuseBatch(request, body.length)
      // The request itself is counted.
      if (options.rateLimit !== undefined && body.length > 1) await countRequests(options.rateLimit, body.length - 1, request, reply)
    }
    if (hasRepeatedId(body)) throw new RpcHttpError(400, rpcCodes.invalidRequest, 'Two requests of a batch have the same id')
    const protocol = await (loading ??= load())
    const { gone, leave } = absence(reply)
    const signal = isListen(body) ? untilStop(gone, stopping, reply) : gone
    const web = webRequest(request, signal)
    const isLegacy = await protocol.isLegacy(web, body)
    const session = isLegacy ? await sessionOf(request) : { id: undefined, level: undefined }
    const mayStream = principal.sse && accepts(request, 'text/event-stream')
    const exchange: Exchange = {
      principal,
      place,
      session: session.id,
      logLevel: session.level,
      knowsLinks: !isLegacy || String(request.headers['mcp-protocol-version'] ?? '') >= '2025-06-18',
      mayStream,
      gone,
      leave,
      stream: undefined,
      origin: request.origin,
      id: request.id,
      log: request.log
    }
    if (isLegacy && session.id !== undefined) {
      for (const cancelled of cancelledIn(body)) await sessions.tell({ kind: 'cancelled', session: session.id, request: cancelled })
    }
    if (!isLegacy && isListen(body)) {
      requireSse(principal)
      streams.requireRoom()
    }
    const isCall = callsIn(body)
    const answering = isLegacy ? protocol.answerLegacy(web, body, exchange, isCall) : protocol.answer(web, body, exchange, isCall)
    const response = await Promise.race([answering, aborted(gone)])
    if (isLegacy && isInitialize(body)) response?.headers.set(sessionHeader, ids.issue(principal))
    await sendResponse(response, reply, exchange, streams, isCall)
    return reply
  })

  app.get('/mcp', { config: { makesWork: true, role: 'read' }, exposeHeadRoute: false }, async (request, reply) => {
    if (request.headers['mcp-protocol-version'] === statelessVersion) {
      throw notAllowed(
        reply, 'POST', 'In this revision changes are heard of by subscriptions/listen'
      )
    }
    if (!accepts(request, 'text/event-stream')) {
      throw new RpcHttpError(
        406, rpcCodes.refused, 'Not Acceptable: the client must accept text/event-stream'
      )
    }
    requireSse(principalOf(request))
    const { id: session } = await sessionOf(request)
    loading ??= load()
    await loading
    const stream = changes.open(reply, session)
    if (session !== undefined && stream !== undefined) await sessions.tell({ kind: 'stream', session, stream })
    return reply
  })

  app.delete('/mcp', { config: { role: 'read', bodyOptional: true } }, async (request, reply) => {
    const { id } = await sessionOf(request)
    if (id === undefined) throw new RpcHttpError(400, rpcCodes.refused, 'The header Mcp-Session-Id says which session is to end')
    await sessions.end(id)
    await sessions.tell({ kind: 'ended', session: id })
    return await reply.code(204).send()
  })

  app.route({
    // Also HEAD: what GET answers with is the stream itself.
    method: ['HEAD', 'PUT', 'PATCH', 'OPTIONS'],
    url: '/mcp',
    config: { role: 'read' },
    handler: (_request, reply) => { throw notAllowed(reply, 'POST, GET, DELETE', 'Method not allowed') }
  })
}

/** No site may use a browser for this, whatever it knows (the protocol asks for it). */
function refuseForeignOrigin (request: FastifyRequest): void {
  const { origin } = request.headers
  if (origin !== undefined && !isOwnOrigin(origin, request)) {
    throw new HttpError(
      'FORBIDDEN', 'No other site may use the service. Behind a reverse proxy, have it forward the Host header.'
    )
  }
}

/** A batch of JSON-RPC is of the revision 2025-03-26 alone; the next one has removed it. */
function refuseBatch ({ headers }: FastifyRequest, messages: number): void {
  const version = String(headers['mcp-protocol-version'] ?? '')
  if (version >= singleVersion) {
    throw new RpcHttpError(
      400, rpcCodes.invalidRequest, `Since its revision ${singleVersion} the protocol has no batches: send each message by itself`
    )
  }
  if (messages > mostMessages) {
    throw new RpcHttpError(400, rpcCodes.invalidRequest, `A batch has at most ${mostMessages} messages, and this one ${messages}: send several`)
  }
}

/** Aborts when the client went away, or when nothing is to be answered any more. */
function absence ({ raw }: FastifyReply): { gone: AbortSignal, leave: () => void } {
  const abort = sharedAbort()
  // Who has left already will not leave again.
  if (raw.destroyed) abort.abort()
  else raw.once('close', () => { if (!raw.writableFinished) abort.abort() })
  return { gone: abort.signal, leave: () => { abort.abort() } }
}

/** Aborts when the client went away or the process stops. `AbortSignal.any` needs Node.js 20.3. */
function untilStop (gone: AbortSignal, stopping: AbortSignal, { raw }: FastifyReply): AbortSignal {
  const abort = new AbortController()
  const end = (): void => { abort.abort() }
  if (gone.aborted || stopping.aborted) end()
  else {
    for (const signal of [gone, stopping]) signal.addEventListener('abort', end, { once: true })
    raw.once('close', () => { stopping.removeEventListener('abort', end) })
  }
  return abort.signal
}

async function aborted (signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return
  await new Promise(resolve => { signal.addEventListener('abort', resolve, { once: true }) })
}

function accepts ({ headers }: FastifyRequest, type: string): boolean {
  return headers.accept?.toLowerCase().includes(type) === true
}

function notAllowed (reply: FastifyReply, allow: string, message: string): RpcHttpError {
  void reply.header('allow', allow)
  return new RpcHttpError(405, rpcCodes.refused, message)
}
