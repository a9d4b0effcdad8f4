import { onAbort } from '@toolyard/runtime'
import { asError, storedJson } from '@toolyard/contract'
import {
  createMcpHandler, isLegacyRequest, McpServer, preloadSchemas, ProtocolError,
  WebStandardStreamableHTTPServerTransport, type JSONRPCMessage, type McpHttpHandler, type McpServerOptions
} from '@modelcontextprotocol/server'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Answerer } from '../invocation/answerer.ts'
import { toHttpError } from '../plugins/errors.ts'
import type { CatalogChange } from './catalog-changes.ts'
import { ChangeBus } from './change-bus.ts'
import type { Exchange } from './call/exchange.ts'
import type { McpParts } from './call/mcp-parts.ts'
import type { Message } from './message.ts'
import { offerCacheHints, offerCapabilities, serveOffers, skillsExtension, type OfferParts } from './offers/offers.ts'
import { described, rpcCodes } from './call/rpc-error.ts'
import { changeSession } from './call/session-change.ts'
import { SkillListings } from './offers/skill-listings.ts'
import { SkillResources } from './offers/skills.ts'
import { serveTasks, tasksExtension } from './call/tasks.ts'
import { callTool } from './call/tool-call.ts'

/*
 * The protocol's own code, and what it is told of Toolyard. This module is loaded before the service listens: it
 * takes 17 MB and a fifth of a second of processor time.
 */

/** A client may take a list for current for a minute; one that holds a stream hears of changes at once. */
const cached = { ttlMs: 60_000, cacheScope: 'private' as const }
const { version } = storedJson<{ version: string }>(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const serverInfo = { name: 'toolyard', version }
const capabilities = { tools: { listChanged: true }, ...offerCapabilities, logging: {} }

/** A server whose tools are listed elsewhere. The SDK compares headers with arguments by the schema that it asks for here. */
class ListedServer extends McpServer {
  readonly #schemaOf: (tool: string) => Record<string, unknown> | undefined

  constructor (options: McpServerOptions, schemaOf: (tool: string) => Record<string, unknown> | undefined) {
    super(serverInfo, options)
    this.#schemaOf = schemaOf
  }

  override toolInputSchemaJson (name: string): Record<string, unknown> | undefined {
    return this.#schemaOf(name)
  }
}

/** Makes now what the first request would make else, in a tenth of a second: the schemas of all messages, and what reads requests. */
export function preload (): void {
  preloadSchemas()
  void new Request('http://localhost/mcp', { method: 'POST' })
}

/** Answers requests of the revision 2026-07-28 and of those of 2025. */
export class Protocol {
  readonly #parts: OfferParts
  readonly #exchanges = new WeakMap<Request, Exchange>()
  readonly #bus = new ChangeBus()
  /** A call is answered by a stream of events, since proxies and clients give up on a connection without a sign of life. */
  readonly #handlers: { stream: McpHttpHandler, other: McpHttpHandler }

  constructor (parts: Omit<McpParts, 'answerer'>, log: FastifyBaseLogger) {
    const listings = new SkillListings(log)
    const answerer = new Answerer(parts.approvals)
    this.#parts = { ...parts, answerer, skills: (visible, room) => new SkillResources(visible, listings, room) }
    const handler = (responseMode: 'auto' | 'sse'): McpHttpHandler => createMcpHandler(({ requestInfo }) => this.#server(requestInfo, 'modern'), {
      legacy: 'reject',
      responseMode,
      bus: this.#bus,
      // The service bounds streams, and keeps them alive.
      maxSubscriptions: Number.MAX_SAFE_INTEGER,
      keepAliveMs: 0
    })
    this.#handlers = { stream: handler('sse'), other: handler('auto') }
  }

  /** Whether a request is one of a revision of 2025. */
  async isLegacy (request: Request, message: Message): Promise<boolean> {
    // An answer is of no revision.
    return message.method === undefined || await isLegacyRequest(request, message)
  }

  async answer (request: Request, message: Message, exchange: Exchange, asStream: boolean): Promise<Response> {
    this.#exchanges.set(request, exchange)
    return await this.#handlers[asStream ? 'stream' : 'other'].fetch(request, { parsedBody: message })
  }

  /** Answers a request of 2025; each is served by itself, whatever process served those before it. */
  async answerLegacy (request: Request, message: Message, exchange: Exchange, asStream: boolean): Promise<Response> {
    this.#exchanges.set(request, exchange)
    const server = this.#server(request, 'legacy')
    const transport = new WebStandardStreamableHTTPServerTransport({ keepAliveMs: 0, enableJsonResponse: !asStream })
    const { id: relatedRequestId } = message
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- What is sent is made as the protocol has it.
    if (relatedRequestId !== undefined) exchange.send = async sent => { await transport.send(sent as JSONRPCMessage, { relatedRequestId }) }
    await server.connect(transport)
    onAbort(request.signal, () => { void server.close() })
    return await transport.handleRequest(request, { parsedBody: message })
  }

  /** Tells subscribers of 2026 what has changed; of each resource in a turn of its own, since there may be many of both. */
  async tell ({ tools, prompts, resources, updated }: CatalogChange): Promise<void> {
    if (tools) this.#bus.publish({ kind: 'tools_list_changed' })
    if (prompts) this.#bus.publish({ kind: 'prompts_list_changed' })
    if (resources) this.#bus.publish({ kind: 'resources_list_changed' })
    for (const uri of updated) {
      await turn()
      this.#bus.publish({ kind: 'resource_updated', uri })
    }
  }

  #server (request: Request | undefined, era: 'modern' | 'legacy'): McpServer {
    const exchange = request === undefined ? undefined : this.#exchanges.get(request)
    if (exchange === undefined) throw new Error('A request without an exchange')
    const parts = this.#parts
    const product = new ListedServer({
      capabilities: era === 'modern' ? { ...capabilities, extensions: { ...skillsExtension, [tasksExtension]: {} } } : capabilities,
      cacheHints: { ...offerCacheHints, 'tools/list': cached, 'server/discover': cached }
    }, name => parts.lists.for(exchange.principal).byName.get(name)?.inputSchema)
    const { server } = product
    server.setRequestHandler('tools/list', ({ params }) => guarded(exchange, async () => {
      const page = (): object => parts.lists.page(exchange.principal, params?.cursor)
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The SDK's type of a tool has more than it sends.
      return await parts.catalog.inTurn(exchange.principal, exchange.gone, page) as never
    }))
    server.setRequestHandler('tools/call', (message, context) => guarded(exchange, () => callTool(message, context, exchange, parts)))
    server.setRequestHandler('logging/setLevel', ({ params }) => guarded(exchange, async () => {
      const { session, owner } = exchange
      if (session !== undefined) await changeSession(parts.sessions, { session, owner }, { kind: 'level', level: params.level })
      return {}
    }))
    if (era === 'modern') serveTasks(server, exchange, parts, async answer => await guarded(exchange, answer))
    serveOffers(server, exchange, parts, async answer => await guarded(exchange, answer))
    return product
  }
}

/** A fault of the service is told as one, and tells nothing else. */
async function guarded<T> (exchange: Exchange, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const { code, message, data } = described(toHttpError(asError(error)))
    if (code === rpcCodes.internal) exchange.log.error({ err: error }, 'request failed')
    // The message was read: what is wrong is in its parameters.
    throw new ProtocolError(code === rpcCodes.parse ? rpcCodes.invalidParams : code, message, { ...data, request_id: exchange.id })
  }
}
