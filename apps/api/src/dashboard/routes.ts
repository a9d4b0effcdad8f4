import { isRecord, HttpError, type ErrorBody } from '@toolyard/contract'
import type { BoardParts, QueueBoard, Viewer } from '@toolyard/queue/dashboard'
import { madeOnce, type Redact } from '@toolyard/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { App } from '../plugins/typed-app.ts'
import type { KeyRing } from '../access/key-ring.ts'
import type { Logins } from '../access/logins.ts'
import { principalOf, type Principal } from '../access/principal.ts'
import { Assets } from './assets.ts'
import { createGuard } from './guard.ts'
import { setBoardHeaders } from './headers.ts'
import { loginRoutes } from './login.ts'

export interface DashboardOptions {
  keys: KeyRing
  authDisabled: boolean
  logins: Logins
  board: BoardParts
  /** Nothing can be changed. */
  readOnly: boolean
  /** Path in front of all of Toolyard's, as the browser sees it; without a slash at the end. */
  basePath: string
  /** Makes what replaces secrets on one page. */
  redactor: () => Redact
  /** Whether a key could have a tool run. */
  mayRun: (tool: string, principal: Principal) => boolean
}

/** The pages of bull-board; which one it is, is its script's affair. */
const pages = ['/', '/queue/:queueName', '/queue/:queueName/:jobId', '/job-schedulers', '/metrics-history']

/** Files whose names change with their content. */
const hashedName = /\.[0-9a-f]{8,}\.(?:css|js)$/

/** The queue dashboard: bull-board behind a login. bull-board itself is loaded when somebody comes. */
export async function dashboardRoutes (app: App, options: DashboardOptions): Promise<void> {
  const base = `${options.basePath}/dashboard/`
  const open = madeOnce(async () => await openBoard(options, base))

  app.decorateRequest('principal', null)
  app.decorateRequest('login', null)
  app.addHook('onRequest', async (_request, reply) => { setBoardHeaders(reply) })
  app.addHook('onRequest', createGuard({ keys: options.keys, authDisabled: options.authDisabled, logins: options.logins, loginPath: `${base}login` }))
  app.addHook('preSerialization', async (_request, _reply, payload) => isErrorBody(payload) ? forPage(payload) : payload)
  await app.register(loginRoutes, { logins: options.logins, base })

  for (const url of pages) {
    app.get(url, { config: { page: true } }, async (_request, reply) => await reply.type('text/html; charset=utf-8').send((await open()).board.page(base)))
  }

  app.get<{ Params: { '*': string } }>('/static/*', async (request, reply) => {
    const path = request.params['*']
    const asset = await (await open()).assets.read(path)
    if (asset === undefined) throw new HttpError('NOT_FOUND', 'No such file')
    if (hashedName.test(path)) void reply.header('cache-control', 'private, max-age=31536000, immutable')
    return await reply.type(asset.type).send(asset.body)
  })

  app.route({
    method: ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'],
    url: '/api/*',
    handler: async (request, reply) => await answer(request, reply, (await open()).board)
  })

  async function answer (request: FastifyRequest, reply: FastifyReply, board: QueueBoard): Promise<FastifyReply> {
    const principal = principalOf(request)
    const path = pathBelow(request.url, '/api')
    // They tell of all that is stored, also of other queues.
    if (path === '/redis/stats' && principal.queueAllowlist !== undefined) throw new HttpError('FORBIDDEN', 'The statistics of Redis require an API key without queue_allowlist.')
    const { status, body } = await board.answer(
      { method: request.method, path, query: isRecord(request.query) ? request.query : {}, body: request.body }, viewer(principal)
    )
    if (request.method !== 'GET') request.log.info({ key: principal.name, action: `${request.method} ${path}`, status }, 'dashboard: action')
    return await reply.code(status).send(body)
  }

  function viewer (principal: Principal): Viewer {
    return {
      keyName: principal.name,
      queueAllowlist: principal.queueAllowlist,
      readOnly: options.readOnly,
      redact: options.redactor(),
      mayRun: tool => options.mayRun(tool, principal)
    }
  }
}

async function openBoard ({ board: parts, authDisabled }: DashboardOptions, base: string): Promise<{ board: QueueBoard, assets: Assets }> {
  const { openQueueBoard } = await import('@toolyard/queue/dashboard')
  const board = await openQueueBoard(parts, { title: 'Toolyard', links: authDisabled ? [] : [{ text: 'Log out', url: `${base}logout` }] })
  return { board, assets: new Assets(board.staticDir) }
}

type Failure = Static<typeof ErrorBody>

function isErrorBody (payload: unknown): payload is Failure {
  return typeof payload === 'object' && payload !== null && (payload as { ok?: unknown }).ok === false
}

/** bull-board's page shows a title by its key, and a message. */
function forPage ({ error, ...rest }: Failure): object {
  const key = error.code === 'UNAVAILABLE' ? 'ERRORS.REDIS_UNAVAILABLE' : error.code === 'INTERNAL' ? 'ERRORS.INTERNAL_SERVER_ERROR' : 'ERRORS.FORBIDDEN'
  return { ...rest, error: { ...error, key }, message: error.message }
}

/** The part of a URL's path after the first `mark`, as it was sent: names of queues may hold anything. */
function pathBelow (url: string, mark: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return path.slice(path.indexOf(mark) + mark.length)
}
