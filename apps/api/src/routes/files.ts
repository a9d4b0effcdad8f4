import { ArchiveResponse, ErrorBody, errorCode, FileResponse, HttpError, isRecord, parseFileQuery, type FileQuery, type Permission } from '@toolyard/contract'
import { changeable, checkNewNames, type WorkspaceSetting, type WriteTurns } from '@toolyard/workspace'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { finished } from 'node:stream'
import type { TString } from 'typebox'
import { Type } from '@toolyard/contract/type'
import type { KeyRing } from '../access/key-ring.ts'
import { KeyWatch } from '../access/key-watch.ts'
import { ownerOfKey, principalOf, requireOperator, type Principal } from '../access/principal.ts'
import { sendArchive } from '../files/archive/pack.ts'
import { unpackArchive } from '../files/archive/unpack.ts'
import { piecesOf, type ComingBody } from '../files/body-pieces.ts'
import { getFile } from '../files/download.ts'
import { toFileError } from '../files/file-error.ts'
import { unlimited, type FileSpace, type RequestedSpace } from '../files/file-space.ts'
import { archiveTurns, FileTurns, listingTurns, syncTurns, TurnsOfEach } from '../files/file-turns.ts'
import { removeFile } from '../files/remove.ts'
import type { SessionFiles } from '../files/session-files.ts'
import { contentOf, putFile } from '../files/upload.ts'
import { namesOfUrl, refuseSlashAtEnd } from '../files/url-names.ts'
import { abandoned, disconnected } from '../plugins/abandoned.ts'
import { sendError } from '../plugins/errors.ts'
import { SlowBodies } from '../plugins/body/slow-bodies.ts'
import type { App } from '../plugins/typed-app.ts'

export interface FileRoutesOptions {
  workspace: WorkspaceSetting
  sessionFiles: SessionFiles
  turns: WriteTurns
  keys: KeyRing
  ending: AbortSignal
}

// Which parameters are known is a matter of the method, too.
const config = { checksQuery: true }
const errors = { '4xx': ErrorBody, '5xx': ErrorBody }
const path = { '*': Type.String({ description: 'A path below the workspace; each name in percent-encoding.' }) }
const sessionId = { id: Type.String({ description: 'The id of the session.' }) }
const putAnswer = Type.Union([FileResponse, ArchiveResponse])
/** How often the keys of requests that go on are looked at, in milliseconds. */
const keyLookMs = 500
/** The permission that a tool needs for the same. */
const needed: Readonly<Record<string, Permission>> = { GET: 'read_repo', HEAD: 'read_repo' }

/** Files of the shared workspace, for operators, and of sessions. */
export async function fileRoutes (app: App, { workspace, sessionFiles, ...options }: FileRoutesOptions): Promise<void> {
  // A body of any type is a file: it isn't read before the route does.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => { done(null, payload) })
  app.setErrorHandler((error: FastifyError, request, reply) => { sendError(toFileError(error), request, reply) })
  const shared = {
    ...options, keyWatch: new KeyWatch(options.keys, keyLookMs), slowBodies: new SlowBodies(app.server),
    fileTurns: { listings: new FileTurns(listingTurns), syncs: new FileTurns(syncTurns), archives: new TurnsOfEach(archiveTurns) }
  }
  const openShared: Open = async (_request, principal) => {
    requireOperator(principal)
    return { workspace, allow: async () => unlimited, freed: () => {}, gone: () => undefined, leave: () => {} }
  }
  const openSession: Open = async ({ params }, principal) => {
    return await sessionFiles.open(isRecord(params) ? String(params['id']) : '', principal)
  }
  routesBelow(app, { ...shared, prefix: '/files', params: {}, open: openShared })
  routesBelow(app, { ...shared, prefix: '/sessions/:id/files', params: sessionId, open: openSession })
}

/** A client that goes away in the middle of its body is no fault of the service, which the log would have. */
function unlessBrokenOff (error: unknown): unknown {
  const isOfClient = error === disconnected || errorCode(error) === 'ECONNRESET'
  return isOfClient ? new HttpError('VALIDATION_ERROR', 'The request broke off') : error
}

type Open = (request: FastifyRequest, principal: Principal) => Promise<Omit<FileSpace, 'signal'> & { signal?: AbortSignal }>

interface PlacedRoutes extends Pick<FileRoutesOptions, 'turns' | 'ending'> {
  keyWatch: KeyWatch
  prefix: string
  /** Parameters of the path before the files. */
  params: Record<string, TString>
  slowBodies: SlowBodies
  fileTurns: { listings: FileTurns, syncs: FileTurns, archives: TurnsOfEach }
  open: Open
}

function routesBelow (app: App, { prefix, params: before, turns, slowBodies, fileTurns, keyWatch, ending, open }: PlacedRoutes): void {
  const params = Type.Object({ ...before, ...path })
  type Use<T> = (space: RequestedSpace, wanted: { names: string[], query: FileQuery }) => Promise<T>
  const serve = async <T>(request: FastifyRequest, reply: FastifyReply, use: Use<T>): Promise<T> => {
    const query = parseFileQuery(request.method, isRecord(request.query) ? request.query : {})
    const names = namesOfUrl(request.url, (request.routeOptions.url ?? '').replace(/\/\*$/, '').split('/').length)
    const principal = principalOf(request)
    const permission = needed[request.method] ?? 'write_files'
    if (principal.permissions?.includes(permission) === false) throw new HttpError('FORBIDDEN', `This API key has no permission '${permission}'.`)
    const opened = await open(request, principal)
    const space = permission === 'read_repo' ? opened : { ...opened, workspace: changeable(opened.workspace) }
    const revoked = new AbortController()
    const stop = keyWatch.watch(principal, () => { revoked.abort() })
    const signal = abandoned(reply.raw, ending, revoked.signal, ...space.signal === undefined ? [] : [space.signal])
    // A file is still being sent when the route has ended.
    finished(reply.raw, () => {
      stop()
      space.leave()
    })
    try {
      const owner = ownerOfKey(principal)
      const inTurn: RequestedSpace['inTurn'] = async work => await fileTurns.listings.run(owner, signal, work)
      const toDisk: RequestedSpace['toDisk'] = async sync => await fileTurns.syncs.run(owner, signal, sync)
      return await use({ ...space, signal, inTurn, toDisk }, { names, query })
    } catch (error) {
      const gone = space.gone()
      if (gone !== undefined) throw gone
      if (ending.aborted) throw new HttpError('UNAVAILABLE', 'The service is stopping')
      throw revoked.signal.aborted ? new HttpError('UNAUTHORIZED', 'The key of this request opens nothing any more') : unlessBrokenOff(error)
    }
  }

  for (const url of [prefix, `${prefix}/*`]) {
    const ofPath = { params: url === prefix ? Type.Object(before) : params }
    app.route({
      method: ['GET', 'HEAD'],
      url,
      exposeHeadRoute: false,
      config,
      schema: { ...ofPath, response: { ...errors } },
      handler: async (request, reply) => await serve(request, reply, async (space, wanted) => {
        if (!wanted.query.archive) return await getFile(space, wanted, request, reply)
        const send = async (): Promise<FastifyReply> => await sendArchive(space, wanted.names, request, reply)
        return await fileTurns.archives.run(ownerOfKey(principalOf(request)), space.signal, send)
      })
    })
  }

  for (const url of [prefix, `${prefix}/*`]) {
    const ofPath = url === prefix ? Type.Object(before) : params
    const response = { 200: putAnswer, 201: FileResponse, ...errors }
    app.put(url, { config, schema: { params: ofPath, response } }, async (request, reply) => {
      return await serve(request, reply, async (space, { names, query: { archive } }) => {
        try {
          return archive ? await putArchive(space, names, request, reply) : await putOne(space, names, request, reply)
        } finally {
          slowBodies.drop(request.raw)
        }
      })
    })
  }

  async function putOne (space: RequestedSpace, names: string[], request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    checkNewNames(names)
    refuseSlashAtEnd(request.url, names)
    if (request.headers['content-range'] !== undefined) throw new HttpError('VALIDATION_ERROR', 'A file is put as a whole, without Content-Range')
    const { file, isNew } = await putFile(space, { names, ...contentOf(bodyOf(request), space.signal), headers: request.headers }, turns)
    return await reply.code(isNew ? 201 : 200).header('etag', file.etag).send({ ok: true as const, file })
  }

  async function putArchive (space: RequestedSpace, names: string[], request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const ofOne = ['content-range', 'if-match', 'if-none-match'].find(name => request.headers[name] !== undefined)
    if (ofOne !== undefined) throw new HttpError('VALIDATION_ERROR', `An archive is put without the header ${ofOne}`)
    const body = bodyOf(request)
    if (body === undefined) throw new HttpError('VALIDATION_ERROR', 'The body must be a tar archive')
    const unpacked = await unpackArchive(space, { names, pieces: piecesOf(body, space.signal) }, turns)
    return await reply.send({ ok: true as const, archive: { path: names.join('/') || '.', ...unpacked } })
  }

  function bodyOf (request: FastifyRequest): ComingBody | undefined {
    const hasBody = request.body !== undefined && request.body !== null
    return hasBody ? { request: request.raw, waits: slowBodies.allow(request.raw) } : undefined
  }

  app.delete(`${prefix}/*`, { config, schema: { params, response: { 204: Type.Null(), ...errors } } }, async (request, reply) => {
    return await serve(request, reply, async (space, { names, query: { recursive } }) => {
      await removeFile(space, { names, recursive, headers: request.headers }, turns)
      return await reply.code(204).send(null)
    })
  })
}
