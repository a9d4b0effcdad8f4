import { bulkQuery, BulkList, BulkRequest, BulkResponse, checkBulkRequest, ErrorBody, HttpError, type BulkView } from '@toolyard/contract'
import { queueRefusal } from '@toolyard/manifests'
import type { Bulk, BulkChanges } from '@toolyard/queue'
import { jobIdPattern } from '@toolyard/store'
import { Type } from '@toolyard/contract/type'
import { principalOf, scopeOf } from '../../access/principal.ts'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import type { App } from '../../plugins/typed-app.ts'
import { abandoned } from '../../plugins/abandoned.ts'
import { inTime, type ListTurns } from '../../plugins/list-turns.ts'

const params = Type.Object({ id: Type.String() })
const errors = { '4xx': ErrorBody, '5xx': ErrorBody }

/** Cancelling all jobs that fit a filter, or running them again. A key of a tenant does so to its tenant's. */
export async function bulkRoutes (app: App, { bulk, turns }: { bulk: BulkChanges, turns: ListTurns }): Promise<void> {
  app.post('/bulk', {
    config: { makesWork: true, changes: { action: 'jobs.change', fields: ['action', 'filter'] } },
    schema: { body: BulkRequest, response: { 202: BulkResponse, ...errors } },
    validatorCompiler: bodyChecked(checkBulkRequest)
  }, async (request, reply) => {
    const principal = principalOf(request)
    const { action, filter } = request.body
    const query = bulkQuery(filter)
    const refusal = query.queue === undefined ? undefined : queueRefusal({ queues: principal.queueAllowlist }, query.queue)
    if (refusal !== undefined) throw new HttpError('FORBIDDEN', refusal.message, refusal.details)
    const begun = await inTime(async () => await bulk.begin({
      action,
      filter,
      query,
      scope: scopeOf(principal),
      keyName: principal.name,
      permissions: principal.permissions,
      namespaces: principal.namespaces,
      hosts: principal.hosts
    }, abandoned(reply.raw)))
    if (begun === undefined) throw new HttpError('RATE_LIMITED', 'Too many bulk changes run: wait for one to end, or stop one')
    request.log.info({ key: principal.name, bulk: begun.id, action }, 'a bulk change is begun')
    return await reply.code(202).send({ ok: true as const, bulk: view(begun) })
  })

  app.get('/bulk', { schema: { response: { 200: BulkList, ...errors } } }, async (request, reply) => {
    const bulks = (await turns.run(request, reply, async () => await bulk.list(scopeOf(principalOf(request))))).map(view)
    return { ok: true as const, bulks, count: bulks.length }
  })

  app.get('/bulk/:id', { schema: { params, response: { 200: BulkResponse, ...errors } } }, async request => {
    const { id } = request.params
    return { ok: true as const, bulk: view(found(jobIdPattern.test(id) ? await bulk.read(id, scopeOf(principalOf(request))) : undefined)) }
  })

  app.post('/bulk/:id/stop', { config: { changes: { action: 'jobs.stop_change' } }, schema: { params, response: { 200: BulkResponse, ...errors } } }, async request => {
    const { id } = request.params
    return { ok: true as const, bulk: view(found(jobIdPattern.test(id) ? await bulk.halt(id, scopeOf(principalOf(request))) : undefined)) }
  })
}

function found (bulk: Bulk | undefined): Bulk {
  if (bulk === undefined) throw new HttpError('NOT_FOUND', 'There is no such bulk change')
  return bulk
}

function view ({ id, action, filter, state, keyName, scope, total, seen, changed, createdAt, finishedAt }: Bulk): BulkView {
  return {
    id,
    action,
    filter,
    state,
    key: keyName,
    ...(scope.tenant === undefined ? {} : { tenant: scope.tenant }),
    total,
    seen,
    changed,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === undefined ? null : new Date(finishedAt).toISOString()
  }
}
