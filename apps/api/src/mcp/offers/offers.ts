import { fromJsonSchema, ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from '@modelcontextprotocol/server'
import type { Skill } from '@toolyard/manifests'
import type { McpSessionChange } from '@toolyard/store'
import { placeOfCall } from '../call/call-meta.ts'
import type { Exchange } from '../call/exchange.ts'
import { changeSession, mostWatched } from '../call/session-change.ts'
import { OfferedTool } from './offered-tool.ts'
import { completions, getPrompt, listPrompts } from './prompts.ts'
import { isWatchable, listResources, listTemplates, maker, readDirectory, readResource, type Resources } from './resources.ts'
import type { SkillResources } from './skills.ts'
import type { AnswerRoom } from '../../plugins/load/unsent-answers.ts'
import type { McpParts } from '../call/mcp-parts.ts'

export interface OfferParts extends McpParts {
  skills: (visible: readonly Skill[], room: AnswerRoom) => SkillResources
}

/** How long a client may take what it was told for current, in milliseconds. */
const offerTtlMs = 60_000
const cache = { ttlMs: offerTtlMs, cacheScope: 'private' as const }

/** The server's capabilities, beside tools. */
export const offerCapabilities = { prompts: { listChanged: true }, resources: { listChanged: true, subscribe: true }, completions: {} }
export const skillsExtension = { 'io.modelcontextprotocol/skills': { directoryRead: true } }
/** Requests whose answers a client may keep. */
export const offerCacheHints = { 'prompts/list': cache, 'resources/list': cache, 'resources/templates/list': cache, 'resources/read': { ttlMs: 0, cacheScope: 'private' as const } }

const cursorParams = fromJsonSchema<{ cursor?: string }>({ type: 'object', properties: { cursor: { type: 'string' } } })
const uriParams = fromJsonSchema<{ uri: string, cursor?: string }>(
  { type: 'object', properties: { uri: { type: 'string' }, cursor: { type: 'string' } }, required: ['uri'] }
)

export function serveOffers (
  server: Server, exchange: Exchange, parts: OfferParts, guarded: <T>(answer: () => Promise<T>) => Promise<T>
): void {
  const publication = parts.catalog.publication(exchange.principal)
  const skills = publication.visibleSkills
  const book = parts.skills(skills, exchange.room)
  const inTurn = async <T>(make: () => T): Promise<T> => await parts.catalog.inTurn(exchange.principal, exchange.gone, make)
  const of = (context: ServerContext): Resources => {
    const hasWorkspace = !parts.sessionsRequired || placeOfCall(context, exchange.place).session !== undefined
    const seesWorkspace = hasWorkspace && exchange.principal.role === 'admin'
    return { publication, skills: book, tool: new OfferedTool(context, exchange, parts), seesWorkspace }
  }

  server.setRequestHandler('prompts/list', ({ params }) => guarded(() => {
    noCursor(params?.cursor)
    return inTurn(() => ({ prompts: listPrompts(skills, publication) }))
  }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) => guarded(() => (
    getPrompt(name, args, { skills, publication, tool: of(context).tool })
  )))
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }) => guarded(() => inTurn(() => {
    const tool = ref.type === 'ref/prompt' ? publication.prompts.find(({ name }) => name === ref.name) : maker(ref.uri, publication)
    return { completion: completions(tool, argument.name, argument.value) }
  })))
  server.setRequestHandler('resources/list', ({ params }, context) => guarded(() => listResources(params?.cursor, of(context))))
  server.setRequestHandler('resources/templates/list', ({ params }, context) => guarded(() => {
    noCursor(params?.cursor)
    return inTurn(() => ({ resourceTemplates: listTemplates(of(context)) }))
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) => guarded(() => readResource(uri, of(context))))
  server.setRequestHandler('resources/directory/read', { params: uriParams }, ({ uri, cursor }, context) => guarded(async () => (
    { ...await readDirectory(uri, cursor, of(context)), ...cache }
  )))

  server.setRequestHandler('skills/list', { params: cursorParams }, ({ cursor }) => guarded(async () => {
    const entries = await book.entries(cursor)
    return await inTurn(() => ({ ...entries, ...cache }))
  }))
  server.setRequestHandler('skills/get', { params: uriParams }, ({ uri }) => guarded(async () => {
    const skill = await book.entry(uri)
    if (skill === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such skill', { uri })
    return await inTurn(() => ({ skill, ...cache }))
  }))

  server.setRequestHandler('resources/subscribe', ({ params: { uri } }, context) => guarded(async () => {
    const bytes = Buffer.byteLength(uri)
    if (bytes > mostWatched.uriBytes) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams, `The URI has ${bytes} bytes, and one that is watched at most ${mostWatched.uriBytes}`
      )
    }
    if (!isWatchable(uri, of(context))) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Changes of this resource are not seen', { uri })
    await change({ kind: 'watch', uri, most: mostWatched })
    return {}
  }))
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => guarded(async () => {
    await change({ kind: 'unwatch', uri })
    return {}
  }))

  async function change (to: McpSessionChange): Promise<void> {
    const { session, owner } = exchange
    if (session === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Only a client with a session can watch resources: initialize one')
    await changeSession(parts.sessions, { session, owner }, to)
  }
}

function noCursor (cursor: string | undefined): void {
  if (cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such cursor: the list has one page')
}
