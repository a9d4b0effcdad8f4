import t from 'tap'
import type { QueueList } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  limited: { role: 'read', queue_allowlist: ['allowed'] }, acme: { tenant: 'acme' }, billing: { namespaces: ['billing'] }
})
const service = await injectService(t, {
  files: programs,
  tools: entries,
  env: {
    WORKER_CONCURRENCY: '3',
    WORKER_QUEUES: 'default,allowed',
    API_KEYS_JSON
  }
})
const { client } = service
const read = async (key: string = testKeys.admin): Promise<QueueList> => (await client.request<QueueList>('/v1/queues', { key })).body

t.test('an operator sees what waits and runs in each queue, since when, and how many workers serve it', async t => {
  const forgotten = await submit(client, { type: 'agentcli.nap', input: { ms: 1 }, queue: 'reports' })
  const delayed = await submit(client, { type: 'agentcli.nap', input: { ms: 1 }, queue: 'allowed', delay_ms: 600_000 })
  const running = await submit(client, { type: 'agentcli.nap', input: { ms: 15_000 } })
  const { queues, count } = await waitFor('one job runs, and one waits', async () => {
    const list = await read()
    const find = (name: string): number => list.queues.find(queue => queue.name === name)?.running ?? 0
    return find('default') === 1 && (list.queues.find(({ name }) => name === 'reports')?.oldest_sec ?? 0) > 0 && list
  })
  t.match(queues, [
    { name: 'allowed', waiting: 0, delayed: 1, running: 0, oldest_sec: 0, workers: 1, places: 3 },
    { name: 'default', waiting: 0, running: 1, blocked: 0, workers: 1, places: 3 },
    { name: 'reports', waiting: 1, delayed: 0, running: 0, workers: 0, places: 0 }
  ])
  t.equal(count, 3)
  for (const { id } of [forgotten, delayed, running]) await cancel(client, id)
})

t.test('a tenant sees no queue; a key that is bound to queues sees only these', async t => {
  t.match(await client.request('/v1/queues', { key: keys.acme }), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
  t.same((await read(testKeys.limited)).queues.map(({ name }) => name), ['allowed'])
})

t.test('an operator pauses a queue: its jobs wait until it is resumed', async t => {
  const change = async (name: string, body: object, key: string = testKeys.admin): Promise<object> => await client.request(`/v1/queues/${name}`, { method: 'PATCH', body, key })
  t.match(await change('allowed', { paused: true }), { status: 200, body: { ok: true, queue: { name: 'allowed', paused: true } } })
  const { id } = await submit(client, { type: 'agentcli.nap', input: { ms: 1 }, queue: 'allowed' })
  t.match((await read()).queues.find(({ name }) => name === 'allowed'), { paused: true, waiting: 1, running: 0 })
  t.match(await change('allowed', { paused: false }), { status: 200, body: { queue: { name: 'allowed', paused: false } } })
  await reach(client, id, 'succeeded')
  t.match(await change('nowhere', { paused: true }), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  t.match(await change('allowed', { paused: 'no' }), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: "'paused' must be true or false" } } })
  t.match(await change('allowed', { paused: false, name: 'x' }), { status: 400, body: { error: { message: /'name' is not a known field/ } } })
  t.match(await change('allowed', { paused: true }, testKeys.limited), { status: 403 }, 'a key that may only read')
  t.match(await change('allowed', { paused: true }, keys.acme), { status: 403 }, 'a key of a tenant')
})

t.test('a key that is bound to namespaces pauses no queue, drains no worker and reads no metrics: these are of all tools', async t => {
  await submit(client, { type: 'agentcli.echo', queue: 'shared' })
  const refused = async (method: string, path: string, what: string, body?: object): Promise<void> => {
    const answer = await client.request(path, { method, key: keys.billing, ...body !== undefined && { body } })
    t.match(answer, { status: 403, body: { error: { code: 'FORBIDDEN', message: `This API key is bound to namespaces; ${what} for those that are not.` } } }, path)
  }
  await refused('PATCH', '/v1/queues/shared', 'to pause a queue is', { paused: true })
  const { body: { workers: [worker] } } = await client.request<{ workers: Array<{ id: string }> }>('/v1/workers')
  await refused('PATCH', `/v1/workers/${worker?.id ?? ''}`, 'to drain a worker is', { drained: true })
  await refused('GET', '/metrics', 'the metrics are')
  t.match((await read()).queues.find(({ name }) => name === 'shared'), { paused: false })
})
