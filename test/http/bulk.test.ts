import t from 'tap'
import type { BulkView, JobCounts } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { list, reach, submit } from '../jobs/submission.ts'
import { answeredBefore } from '../support/answered-before.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ read: {}, limited: { name: 'weak', permissions: [] }, acme: { tenant: 'acme' }, other: { tenant: 'other' }, busy: { tenant: 'busy' } })
const service = await injectService(t, {
  files: programs,
  tools: entries,
  env: {
    WORKER_QUEUES: 'default',
    API_KEYS_JSON
  }
})
const { client } = service
const redis = plainRedis(t, service.redis)

async function begin (action: string, filter: object, key: string = testKeys.admin): Promise<BulkView> {
  const answer = await client.request<{ bulk: BulkView }>('/v1/bulk', { body: { action, filter }, key })
  t.equal(answer.status, 202, answer.text)
  return answer.body.bulk
}
async function ended (id: string, key: string = testKeys.admin): Promise<BulkView> {
  return await waitFor('the bulk change ends', async () => {
    const { bulk } = (await client.request<{ bulk: BulkView }>(`/v1/bulk/${id}`, { key })).body
    return bulk.state !== 'running' && bulk
  })
}

t.test('all waiting jobs of a queue are cancelled, and no others; the answer says how far it is', async t => {
  for (let count = 0; count < 230; count += 10) await Promise.all(Array.from({ length: 10 }, () => submit(client, { type: 'agentcli.echo', queue: 'stuck' })))
  const other = await submit(client, { type: 'agentcli.echo', queue: 'other' })
  const foreign = await submit(client, { type: 'agentcli.echo', queue: 'stuck' }, { key: keys.acme })
  const begun = await begin('cancel', { queue: 'stuck', key: 'admin' })
  t.match(begun, { action: 'cancel', filter: { queue: 'stuck', key: 'admin' }, state: 'running', key: 'admin', total: 230, finished_at: null })
  t.match(await ended(begun.id), { state: 'done', seen: 230, changed: 230, finished_at: /Z$/ })
  const counts = (await client.request<JobCounts>('/v1/jobs/counts?queue=stuck')).body
  t.match(counts, { total: 231, states: { queued: 1, cancelled: 230, failed: 0 }, complete: true })
  for (const { id } of [other, foreign]) t.equal((await reach(client, id, 'queued')).status, 'queued')
})

t.test('failed jobs that contain a text are run again under their ids; jobs that the key may not run, and cancelled ones, are not', async t => {
  const fitting = await submit(client, { type: 'agentcli.fail', input: { text: 'Grüße "7"' }, tags: ['bulk'] })
  const unfitting = await submit(client, { type: 'agentcli.fail', input: { text: 'else' }, tags: ['bulk'] })
  for (const { id } of [fitting, unfitting]) await reach(client, id, 'failed')
  const { id } = await begin('run_again', { text: 'GRüße "7', status: 'failed' })
  t.match(await ended(id), { state: 'done', total: 1, seen: 1, changed: 1 })
  const logs = async (job: string): Promise<string> => (await client.request(`/v1/jobs/${job}/logs`)).text
  await waitFor('it ran again', async () => (await logs(fitting.id)).includes('Run again by an operator'))
  t.notMatch(await logs(unfitting.id), /Run again/)
  await reach(client, fitting.id, 'failed')
})

t.test('a key of a tenant changes and sees only jobs of its tenant; a read key changes nothing', async t => {
  const { id } = await begin('cancel', { status: 'queued' }, keys.acme)
  t.match(await ended(id, keys.acme), { state: 'done', tenant: 'acme', seen: 1, changed: 1 })
  t.same((await list(client, '?queue=other&status=queued')).count, 1)
  const all = (await client.request<{ bulks: BulkView[] }>('/v1/bulk')).body.bulks
  t.ok(all.length >= 3)
  t.same((await client.request<{ bulks: BulkView[] }>('/v1/bulk', { key: keys.acme })).body.bulks.map(bulk => bulk.id), [id])
  t.equal((await client.request(`/v1/bulk/${all.at(-1)?.id}`, { key: keys.acme })).status, 404)
  t.equal((await client.request('/v1/bulk', { body: { action: 'cancel', filter: { status: 'queued' } }, key: testKeys.read })).status, 403)
})

t.test('another process goes on from the last page of a process that was lost', async t => {
  const { id: job } = await submit(client, { type: 'agentcli.echo', queue: 'left' })
  const id = '0192f3c5-7a10-7000-8000-5d1f6f1e2b3c'
  const order = { id, action: 'cancel', filter: { queue: 'left' }, query: { queue: 'left' }, scope: {}, keyName: 'admin', total: 1, createdAt: 1 }
  await redis.hset(`toolyard:{bulk}:${id}`, { order: JSON.stringify(order), state: 'running', seen: 5, changed: 4 })
  await redis.sadd('toolyard:{bulk}:running', id)
  t.match(await ended(id), { state: 'done', seen: 6, changed: 5 })
  t.equal((await reach(client, job, 'cancelled')).status, 'cancelled')
})

t.test('a job that failed again after a bulk change ran it is not run a second time when another process goes on', async t => {
  const { id: job } = await submit(client, { type: 'agentcli.fail', tags: ['twice'] })
  await reach(client, job, 'failed')
  const { id } = await begin('run_again', { tag: 'twice', status: 'failed' })
  await ended(id)
  const runs = async (): Promise<number> => (await client.request(`/v1/jobs/${job}/logs`)).text.split('Run again').length - 1
  await reach(client, job, 'failed')
  // As the process left it that did the page, and noted nothing.
  await redis.hset(`toolyard:{bulk}:${id}`, { state: 'running', seen: 0, changed: 0 })
  await redis.sadd('toolyard:{bulk}:running', id)
  t.match(await ended(id), { state: 'done', seen: 1, changed: 0 })
  await reach(client, job, 'failed')
  t.equal(await runs(), 1)
  await ended((await begin('run_again', { tag: 'twice', status: 'failed' })).id)
  await reach(client, job, 'failed')
  t.equal(await runs(), 2, 'another change runs it again')
})

t.test('the bulk changes of a tenant push out none of another, and only 10 of them run at the same time', async t => {
  const body = { action: 'cancel', filter: { queue: 'none' } }
  const { id: own } = await begin('cancel', { queue: 'own' })
  const statuses = new Set<number>()
  for (let count = 0; count < 110; count += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.request('/v1/bulk', { body, key: keys.acme })))
    for (const { status } of answers) statuses.add(status)
    await waitFor('they have ended', async () => await redis.scard('toolyard:{bulk}:running') === 0)
  }
  t.same([...statuses], [202])
  const listed = async (key: string): Promise<BulkView[]> => (await client.request<{ bulks: BulkView[] }>('/v1/bulk', { key })).body.bulks
  t.equal((await listed(keys.acme)).length, 100)
  t.equal((await client.request(`/v1/bulk/${own}`)).status, 200)
  // Those that run are held by a process that was lost.
  for (const { id } of (await listed(keys.acme)).slice(0, 10)) {
    await redis.set(`toolyard:{bulk}:lease:${id}`, 'lost')
    await redis.hset(`toolyard:{bulk}:${id}`, { state: 'running' })
  }
  t.match(await client.request('/v1/bulk', { body, key: keys.acme }), { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
  await begin('cancel', { queue: 'none' })
})

t.test('a change that is not as documented is refused with the reason', async t => {
  const refused: Array<[body: object, message: RegExp]> = [
    [{ action: 'remove', filter: { queue: 'a' } }, /'action' must be one of: cancel, run_again/],
    [{ action: 'cancel' }, /'filter' must be an object/],
    [{ action: 'cancel', filter: {} }, /at least one/],
    [{ action: 'cancel', filter: { cursor: 'x' } }, /no 'cursor'/],
    [{ action: 'cancel', filter: { queue: 'a', limit: 5 } }, /no 'limit'/],
    [{ action: 'cancel', filter: { queue: 'a', order: 'oldest' } }, /no 'order'/],
    [{ action: 'cancel', filter: { status: 'lost' } }, /'status' must be one of/],
    [{ action: 'cancel', filter: { nothing: 'x' } }, /'nothing' is not a known parameter/],
    [{ action: 'cancel', filter: { queue: 'a' }, more: 1 }, /more/]
  ]
  for (const [body, message] of refused) t.match(await client.request('/v1/bulk', { body }), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message } } })
  t.equal((await client.request('/v1/bulk/nothing')).status, 404)
  t.equal((await client.request('/v1/bulk/nothing/stop', { method: 'POST' })).status, 404)
})

t.test('who asks for the list of changes waits for few lists of another tenant, however many that asks for', async t => {
  for (let made = 0; made < 40; made += 10) {
    const begun = await Promise.all(Array.from({ length: 10 }, async () => await begin('cancel', { queue: 'nobody' }, keys.busy)))
    for (const { id } of begun) await ended(id, keys.busy)
  }
  const lists = async (key: string): Promise<number> => (await client.request<{ count: number }>('/v1/bulk', { key })).body.count
  const before = await answeredBefore(async () => { t.equal(await lists(keys.busy), 40) }, async () => await lists(keys.other))
  t.ok(before < 15, `${before} of 30 were answered before`)
})
