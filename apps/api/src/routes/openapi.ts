import { isRecord, HttpError, unknownParameter } from '@toolyard/contract'
import { madeOnce } from '@toolyard/runtime'
import type { FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { unauthorizedText } from '../access/request-key.ts'
import type { ToolCatalog } from '../catalog/tool-catalog.ts'
import type { OpenApiDocuments } from '../openapi/document.ts'
import type { ListedRoute } from '../openapi/route-list.ts'
import { abandoned } from '../plugins/abandoned.ts'
import { namesTag } from '../plugins/entity-tag.ts'
import type { App } from '../plugins/typed-app.ts'

interface OpenApiRouteOptions {
  catalog: ToolCatalog
  routes: readonly ListedRoute[]
  authDisabled: boolean
  /** Path before those of this service, as callers see it. */
  basePath: string
}

/** The service as a document of OpenAPI: the fixed routes for everybody, and the tools for the keys that see them. */
export async function openApiRoutes (app: App, { catalog, routes, authDisabled, basePath }: OpenApiRouteOptions): Promise<void> {
  // The writer of documents is loaded when somebody asks for one: it takes 20 ms.
  const open = madeOnce(async () => await openDocuments(routes, authDisabled))

  app.get('/openapi.json', { config: { keyOptional: true } }, async (request, reply) => {
    const toolsOnly = readQuery(isRecord(request.query) ? request.query : {})
    const { principal } = request
    if (principal === null && toolsOnly) {
      void reply.header('www-authenticate', 'Bearer')
      throw new HttpError('UNAUTHORIZED', unauthorizedText(undefined))
    }
    const tools = principal === null ? noTools : catalog.publication(principal).tools
    const documents = await open()
    const query = { tools, toolsOnly, server: serverOf(request, basePath) }
    const { pieces, bytes, etag } = await catalog.inTurn(principal, abandoned(reply.raw), async () => await documents.write(query))
    void reply.headers({ etag, 'cache-control': 'private, no-cache', vary: 'x-api-key, authorization' })
    if (namesTag(request.headers['if-none-match'], etag)) return await reply.code(304).send()
    void reply.headers({ 'content-type': 'application/json; charset=utf-8', 'content-length': bytes })
    return await reply.send(Readable.from(pieces, { objectMode: false }))
  })
}

async function openDocuments (routes: readonly ListedRoute[], authDisabled: boolean): Promise<OpenApiDocuments> {
  const { OpenApiDocuments } = await import('../openapi/document.ts')
  return new OpenApiDocuments(routes, authDisabled)
}

/** One list, so that its document is made once. */
const noTools = [] as const

/** @throws HttpError `VALIDATION_ERROR` */
function readQuery (query: Readonly<Record<string, unknown>>): boolean {
  const unknown = unknownParameter(query, ['tools'])
  if (unknown !== undefined) throw new HttpError('VALIDATION_ERROR', unknown)
  if (query['tools'] !== undefined && query['tools'] !== 'only') throw new HttpError('VALIDATION_ERROR', "'tools' must be 'only'")
  return query['tools'] === 'only'
}

/** Importers that read the document from a file need a whole address. A `Host` that can't be one leaves the path. */
function serverOf ({ protocol, host }: FastifyRequest, basePath: string): string {
  const address = `${protocol}://${host}${basePath}`
  return /^[\w.:[\]-]+$/.test(host) && URL.canParse(address) ? address : basePath || '/'
}
