import { askerOf, inTime, ListTurns } from '../../plugins/list-turns.ts'
import type { BulkChanges, CallStatistics } from '@toolyard/queue'
import type { App } from '../../plugins/typed-app.ts'
import type { ChangeTrail } from '@toolyard/store'
import { bulkRoutes } from './bulk.ts'
import { queueRoutes, type QueueControl } from './queues.ts'
import { workerRoutes, type WorkerControl } from './workers.ts'
import { ErrorBody, HttpError, isRecord, parseStatisticsQuery, Statistics, ChangeList } from '@toolyard/contract'
import { principalOf, scopeOf } from '../../access/principal.ts'
import { isTenantName } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'

export interface OperationDeps {
  bulk: BulkChanges
  changes: ChangeTrail
  queueControl: QueueControl
  workerControl: WorkerControl
  statistics: CallStatistics
}

export async function operationRoutes (app: App, { bulk, changes, queueControl, workerControl, statistics }: OperationDeps): Promise<void> {
  const turns = new ListTurns()
  await app.register(bulkRoutes, { bulk, turns })
  await app.register(changeRoutes, { changes, turns })
  await queueRoutes(app, queueControl, workerControl)
  await app.register(statisticsRoutes, { statistics })
  await app.register(workerRoutes, { control: workerControl })
}

/** Calls of the last minutes or hours. A key of a tenant sees its tenant's, one that is bound to queues what is of these. */
async function statisticsRoutes (app: App, { statistics }: { statistics: CallStatistics }): Promise<void> {
  app.get('/stats', {
    config: { makesWork: true, checksQuery: true },
    schema: { response: { 200: Statistics, '4xx': ErrorBody, '5xx': ErrorBody } }
  }, async (request, reply) => {
    const query = parseStatisticsQuery(isRecord(request.query) ? request.query : {})
    const scope = scopeOf(principalOf(request))
    const { of } = query
    if (of !== undefined && scope.queues !== undefined && (of.dimension !== 'queue' || !scope.queues.includes(of.name))) {
      throw new HttpError('FORBIDDEN', 'This API key is bound to queues; it may ask for those.')
    }
    return await inTime(async () => await statistics.read({ ...query, scope }, askerOf(request, reply)))
  })
}

const query = Type.Object({
  tenant: Type.Optional(Type.String({ description: 'The tenant whose keys made the changes; for keys without one. Those of the operator when left out.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}-\\d{1,15}$', description: '`next_cursor` of the page before.' }))
}, { additionalProperties: false })

/** Who has changed what by the API. Admins of a tenant see the changes of its keys, the operator's those of each tenant. */
async function changeRoutes (app: App, { changes, turns }: { changes: ChangeTrail, turns: ListTurns }): Promise<void> {
  app.get('/audit', {
    config: { role: 'admin' },
    schema: { querystring: query, response: { 200: ChangeList, '4xx': ErrorBody, '5xx': ErrorBody } },
    // A query is texts; the message says what each may be.
    validatorCompiler: () => (value: unknown) => ({ value })
  }, async (request, reply) => {
    const { limit: text = 50, cursor, tenant: asked } = request.query
    const { tenant: own, queueAllowlist, namespaces } = principalOf(request)
    if (queueAllowlist !== undefined || namespaces !== undefined) throw new HttpError('FORBIDDEN', 'This API key is bound to queues or namespaces; the audit is for those that are not.')
    if (asked !== undefined && own !== undefined && asked !== own) throw new HttpError('FORBIDDEN', 'This API key sees the changes of its own tenant alone.')
    if (asked !== undefined && !isTenantName(asked)) throw new HttpError('VALIDATION_ERROR', "'tenant' must be the name of a tenant")
    const limit = /^\d{1,3}$/.test(String(text)) ? Number(text) : 0
    if (limit < 1 || limit > 200) throw new HttpError('VALIDATION_ERROR', "'limit' must be an integer 1..200")
    if (cursor !== undefined && !/^[1-9]\d{0,14}-\d{1,15}$/.test(cursor)) throw new HttpError('VALIDATION_ERROR', "'cursor' must be the next_cursor of a page before")
    const page = { tenant: asked ?? own, limit: limit + 1, before: cursor }
    const found = await turns.run(request, reply, async () => await changes.list(page))
    const shown = found.slice(0, limit)
    return {
      ok: true as const,
      changes: shown.map(({ id, at, key, tenant = null, action, target = null, about = {}, request: made }) => (
        { id, at: new Date(at).toISOString(), key, tenant, action, target, about, request: made }
      )),
      next_cursor: found.length > limit ? shown.at(-1)?.id ?? null : null
    }
  })
}
