import { HttpError } from '@toolyard/contract'
import type { JobQueues, QueueDirectory } from '@toolyard/queue'
import type { BoardParts } from '@toolyard/queue/dashboard'
import { madeOnce } from '@toolyard/runtime'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { createRequire } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import type { KeyRing } from '../access/key-ring.ts'
import type { Logins } from '../access/logins.ts'
import { nobody, type Principal } from '../access/principal.ts'
import { keyOf } from '../access/request-key.ts'
import { refuseForeignHost } from '../plugins/foreign-site.ts'
import { pageHeaders } from '../plugins/page-headers.ts'
import type { App } from '../plugins/typed-app.ts'

export interface DashboardOptions {
  keys: KeyRing
  /** Every request counts as an admin's. */
  authDisabled: boolean
  logins: Logins
  board: BoardParts & { directory: QueueDirectory, queues: JobQueues }
  /** Path in front of all of Toolyard's, as the browser sees it; without a slash at the end. */
  basePath: string
}

const headers = {
  ...pageHeaders("worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; base-uri 'self'; form-action 'none'"),
  'cache-control': 'no-store'
}

/** bull-board with the queues of Toolyard, to be looked at, behind the login of the console. It is loaded when somebody comes. */
export async function dashboardRoutes (app: App, { keys, authDisabled, logins, board, basePath }: DashboardOptions): Promise<void> {
  const open = madeOnce(async () => await openBoard(board, basePath, error => { app.log.error({ err: error }, 'dashboard: request failed') }))
  app.decorateRequest('principal', null)
  app.addHook('onRequest', async ({ method }, reply) => {
    void reply.headers(headers)
    if (method !== 'GET' && method !== 'HEAD') throw new HttpError('FORBIDDEN', 'The dashboard only shows. The console and the API change jobs and queues.')
  })
  app.all('/', show)
  app.all('/*', show)

  async function show (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const principal = await viewerOf(request)
    const isApi = request.url.includes('/dashboard/api/')
    if (principal === undefined && !isApi) return await reply.redirect(`${basePath}/?then=dashboard`, 303)
    if (principal === undefined) throw new HttpError('UNAUTHORIZED', 'Your session is over: load the page again and log in.')
    if (principal.role !== 'admin' || principal.tenant !== undefined) {
      if (isApi) throw new HttpError('FORBIDDEN', 'The dashboard requires an admin API key without a tenant.')
      return await reply.code(403).type('text/html; charset=utf-8').send(forbiddenPage(basePath))
    }
    const { server, viewerHeader } = await open()
    request.raw.headers[viewerHeader] = JSON.stringify(principal.queueAllowlist ?? null)
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
    reply.hijack()
    server.routing(request.raw, reply.raw)
    return reply
  }

  async function viewerOf (request: FastifyRequest): Promise<Principal | undefined> {
    if (authDisabled) {
      refuseForeignHost(request)
      return nobody
    }
    if (keys.isEmpty) throw new HttpError('AUTH_NOT_CONFIGURED', 'API auth is not configured. Set API_KEY/API_KEYS_JSON.')
    const key = keyOf(request)
    return key === undefined ? (await logins.find(request.headers.cookie))?.principal : await keys.find(key)
  }
}

/** For people whose key may not see it. */
const forbiddenPage = (basePath: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Queue dashboard</title>
<main><h1>Your key may not see the queue dashboard</h1>
<p>It shows the queues of all tenants, so it is for admins of the operator: keys with the role <code>admin</code> and without a tenant. The console shows what your key may see.</p>
<p><a href="${basePath}/">Back to the console</a></p></main></html>
`

const noStatistics = { error: { key: 'ERRORS.FORBIDDEN' }, message: 'The statistics of Redis require an API key without queue_allowlist.' }

/**
 * The parts of bull-board, by who requires them: each takes 5 to 20 ms to load. In a package BullMQ is part of a bundle, so that
 * bull-board loads one of its own.
 */
const modules = [
  ['@fastify/static', 'glob', 'minimatch'],
  ['@fastify/static', 'glob', 'path-scurry'],
  ['@fastify/static', 'glob'],
  ['@fastify/static', '@fastify/send'],
  ['@fastify/static'],
  ['@bull-board/api', 'redis-info', 'lodash'],
  ['@bull-board/api', 'valibot'],
  ['@bull-board/api'],
  ['@bull-board/api', 'bullmq', 'ioredis'],
  ['@bull-board/api', 'bullmq', 'cron-parser'],
  ['@bull-board/api', 'bullmq', './scripts/index.js'],
  ['@bull-board/api', 'bullmq']
]

/** Loads bull-board and sets it up: each in a turn of the event loop of its own. */
async function openBoard (
  { directory, ...parts }: DashboardOptions['board'], basePath: string, onError: (error: Error) => void
): Promise<{ server: FastifyInstance, viewerHeader: string }> {
  for (const path of modules) {
    // Before the first one, too: the request was read in this turn.
    await turn()
    let from = createRequire(import.meta.url)
    for (const name of ['@bull-board/fastify', ...path.slice(0, -1)]) from = createRequire(from.resolve(name))
    from(path.at(-1) ?? '')
  }
  await turn()
  const { FastifyAdapter } = await import('@bull-board/fastify')
  await turn()
  const { createBoard, viewerHeader } = await import('@toolyard/queue/dashboard')
  await turn()
  const adapter = new FastifyAdapter()
  const findQueues = createBoard(adapter, directory, { ...parts, home: `${basePath}/` })
  const server = fastify()
  server.addHook('onError', async (_request, _reply, error) => { onError(error) })
  server.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions.url ?? ''
    if (!route.startsWith('/dashboard/api/')) return
    // They tell of all that is stored, also of other queues.
    if (route.endsWith('/redis/stats') && request.headers[viewerHeader] !== 'null') return await reply.code(403).send(noStatistics)
    // Queues come and go with their jobs.
    await findQueues()
  })
  await turn()
  await server.register(adapter.setBasePath(`${basePath}/dashboard`).registerPlugin(), { prefix: '/dashboard' })
  await turn()
  await server.ready()
  await turn()
  return { server, viewerHeader }
}
