import { HttpError } from '@toolyard/contract/terms'
import type { McpSessionState } from '@toolyard/store'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessTokens } from '../access/access-tokens.ts'
import { ownerKind, principalOf, requireSse, type Principal } from '../access/principal.ts'
import type { JobTypes } from '../catalog/job-types.ts'
import { HeldBytes } from '../plugins/load/held-bytes.ts'
import { answerRoom } from '../plugins/load/unsent-answers.ts'
import type { App } from '../plugins/typed-app.ts'
import type { EventStreams } from '../streams/event-streams.ts'
import { ChangeStreams } from './change-streams.ts'
import { canBeAsked, formsIn, noForms, type ClientForms } from './asking/client-forms.ts'
import { answerIn } from './asking/elicit.ts'
import { OpenRequests } from './asking/open-requests.ts'
import { acceptedTypes } from '../streams/accepted-types.ts'
import { onceOf, placeOf, sendResponse, webRequest, type Exchange } from './call/exchange.ts'
import { WrittenParts } from './call/written-parts.ts'
import { cancelledBy, changes as changesSomething, readMessage } from './message.ts'
import type { Protocol } from './protocol.ts'
import { absence, aborted, approvalUrls, notAllowed, refuseForeignOrigin, requireAccepted, untilStop, type ConsolePlace } from './request-rules.ts'
import { rpcCodes, RpcHttpError, sendRpcError } from './call/rpc-error.ts'
import { SessionIds, sessionOwner } from './session-ids.ts'
import type { McpParts } from './call/mcp-parts.ts'
import { ToolLists } from './call/tool-list.ts'

interface McpRoutesOptions extends Omit<McpParts, 'lists' | 'calls' | 'questions' | 'answerer'>, ConsolePlace {
  tokens: AccessTokens | undefined
  jobTypes: JobTypes
  streams: EventStreams
  /** Aborted when the process begins to stop: streams end, to be opened again at another one. */
  stopping: AbortSignal
}

/** Bytes of the messages that one owner may have open: a call is waited for up to an hour, a stream as long as its client likes. */
const mostBytes = 32 * 1_024 * 1_024
const sessionHeader = 'mcp-session-id'
const versionHeader = 'mcp-protocol-version'
/** The revision without sessions. */
const statelessVersion = '2026-07-28'
/** Requests whose tool may ask something, beside calls. */
const askingRequests: ReadonlySet<string> = new Set(['prompts/get', 'resources/read'])

/**
 * The Model Context Protocol over streamable HTTP, in its revision 2026-07-28 and those of 2025. No process keeps anything
 * of a client between two requests.
 */
export async function mcpRoutes (app: App, options: McpRoutesOptions): Promise<void> {
  const { sessions, streams, stopping, catalog } = options
  const ids = new SessionIds()
  const calls: McpParts['calls'] = new OpenRequests()
  const questions: McpParts['questions'] = new OpenRequests()
  const changes = new ChangeStreams(streams, stopping)
  const held = new HeldBytes(mostBytes)
  let loading: Promise<Protocol> | undefined

  async function load (): Promise<Protocol> {
    const [{ Protocol }, { onCatalogChange }] = await Promise.all([import('./protocol.ts'), import('./catalog-changes.ts')])
    const lists = new ToolLists(catalog, options.jobTypes)
    const protocol = new Protocol({ ...options, calls, questions, lists }, app.log)
    onCatalogChange(catalog, lists, change => {
      protocol.tell(change).catch(() => {})
      changes.tell(change, async (session, principal) => (
        (await sessions.read(session, sessionOwner(principal))).watched ?? []
      )).catch(() => {})
    })
    sessions.listen(notice => {
      if (notice.kind === 'cancelled') calls.say(notice.session, notice.request, undefined)
      else changes.endSession(notice.session, notice.kind === 'stream' ? notice.stream : undefined)
    })
    sessions.listenForAnswers(({ session, request, said }) => { questions.say(session, request, said) })
    return protocol
  }

  async function loaded (): Promise<Protocol> {
    loading ??= load()
    try {
      return await loading
    } catch (error) {
      // It is loaded again for the next request: what failed may be over.
      loading = undefined
      throw error
    }
  }

  async function sessionOf (request: FastifyRequest): Promise<{ id: string | undefined, forms?: ClientForms } & McpSessionState> {
    const header = onceOf(request.headers[sessionHeader])
    if (header === undefined) return { id: undefined }
    const principal = principalOf(request)
    const id = ids.read(header, principal)
    const state: McpSessionState = id === undefined ? { ended: true } : await sessions.read(id, sessionOwner(principal))
    if (state.ended === true) {
      throw new RpcHttpError(
        404, rpcCodes.noSession, 'Session not found: it has ended, or was never begun with this key. Initialize a new one'
      )
    }
    return { id, forms: ids.forms(header), ...state }
  }

  /** The answer names the scope that a token lacks, so that its client can ask for it. */
  function refuseReader (principal: Principal, reply: FastifyReply): never {
    const { tokens } = options
    if (tokens?.hasToken(principal) !== true) throw new HttpError('FORBIDDEN', 'This operation requires an admin API key.')
    const error = tokens.lacksScope('admin')
    void reply.header('www-authenticate', tokens.challenge(error))
    throw error
  }

  async function answer (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const written = new WrittenParts(request.body)
    const principal = principalOf(request)
    const message = readMessage(written.body)
    const { method } = message
    if (principal.role !== 'admin' && changesSomething(message)) refuseReader(principal, reply)
    const place = placeOf(request)
    const accepted = acceptedTypes(request.headers.accept)
    const isListen = method === 'subscriptions/listen'
    const isCall = method === 'tools/call'
    if (message.id !== undefined) requireAccepted(accepted, isListen)
    const protocol = await loaded()
    const { gone, leave } = absence(reply)
    const signal = isListen ? untilStop(gone, stopping, reply) : gone
    const web = webRequest(request, signal)
    const isLegacy = await protocol.isLegacy(web, message)
    // Who begins a session may name one that is over.
    const session = isLegacy && method !== 'initialize' ? await sessionOf(request) : { id: undefined }
    if (message.id !== undefined && !accepted.json) requireSse(principal)
    const mayStream = principal.sse && accepted.namesStream
    const exchange: Exchange = {
      principal,
      place,
      session: session.id,
      owner: sessionOwner(principal),
      logLevel: session.level,
      mayStream,
      forms: session.forms ?? noForms,
      send: undefined,
      approvalUrl: approvalUrls(request, options),
      gone,
      leave,
      stream: undefined,
      written,
      room: answerRoom(app, reply, principal),
      origin: request.origin,
      id: request.id,
      log: request.log
    }
    const cancelled = cancelledBy(message)
    if (isLegacy && session.id !== undefined && cancelled !== undefined) {
      await sessions.tell({ kind: 'cancelled', session: session.id, request: cancelled })
    }
    if (!isLegacy && isListen) {
      requireSse(principal)
      streams.requireRoom()
    }
    if (method === undefined) {
      const answer = answerIn(request.body)
      // Who was asked has a session.
      if (session.id !== undefined && answer !== undefined) await sessions.answer({ session: session.id, ...answer })
      return await reply.code(202).send()
    }
    // In 2025 what asks a client does it on the stream of the request.
    const mayAsk = isCall || (canBeAsked(exchange.forms) && askingRequests.has(method))
    const asStream = mayAsk ? mayStream : !accepted.json
    const answering = isLegacy ? protocol.answerLegacy(web, message, exchange, asStream) : protocol.answer(web, message, exchange, asStream)
    const response = await Promise.race([answering, aborted(gone)])
    if (isLegacy && method === 'initialize') response?.headers.set(sessionHeader, ids.issue(principal, formsIn(message.params?.['capabilities'])))
    await sendResponse(response, reply, exchange, streams, !isListen)
    return reply
  }

  app.setErrorHandler(sendRpcError)
  app.addHook('onRequest', async request => { refuseForeignOrigin(request) })

  app.post('/mcp', { config: { makesWork: true, holdsArguments: true, role: 'read' } }, async (request, reply) => {
    const principal = principalOf(request)
    if (!held.hasRoom(principal, request.bodyBytes)) {
      throw new HttpError('RATE_LIMITED', `The open requests of this ${ownerKind(principal)} at /mcp hold the ${mostBytes} bytes that they may: wait until some have ended`)
    }
    const letGo = held.hold(principal, request.bodyBytes)
    try {
      return await answer(request, reply)
    } finally {
      letGo()
    }
  })

  app.get('/mcp', { config: { makesWork: true, role: 'read' }, exposeHeadRoute: false }, async (request, reply) => {
    if (onceOf(request.headers[versionHeader]) === statelessVersion) {
      throw notAllowed(
        reply, 'POST', 'In this revision changes are heard of by subscriptions/listen'
      )
    }
    // A probe that looks whether somebody is here takes anything, and would wait for the end of the stream.
    if (!acceptedTypes(request.headers.accept).namesStream) {
      throw new RpcHttpError(
        406, rpcCodes.refused, 'Not Acceptable: GET opens a stream of changes, send Accept: text/event-stream with it. Messages are sent by POST'
      )
    }
    requireSse(principalOf(request))
    const { id: session } = await sessionOf(request)
    await loaded()
    const stream = changes.open(reply, session)
    if (session !== undefined && stream !== undefined) await sessions.tell({ kind: 'stream', session, stream })
    return reply
  })

  app.delete('/mcp', { config: { role: 'read' } }, async (request, reply) => {
    const { id } = await sessionOf(request)
    if (id === undefined) throw new RpcHttpError(400, rpcCodes.refused, 'The header Mcp-Session-Id says which session is to end')
    await sessions.end(id, sessionOwner(principalOf(request)))
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
