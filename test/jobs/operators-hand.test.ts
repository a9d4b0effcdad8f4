import type { BulkView } from '@toolyard/contract'
import { Redis } from 'ioredis'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { cancel, reach, submit } from './submission.ts'

const script = (text: string): string => `#!/bin/sh\n${text}\n`
const files = {
  'tools/bin/prints': script('cat'),
  'tools/bin/fails': script('exit 1'),
  'tools/bin/waits': script('sleep 60'),
  // Fails until somebody has mended it.
  'tools/bin/breaks': script('echo looking for the part >&2; [ -e mended ] && echo \'"done"\' || exit 3'),
  'tools/bin/mends': script('touch mended; echo 1')
}
const { keys, API_KEYS_JSON } = makeKeys({ read: {}, limited: { queue_allowlist: ['allowed'] }, reading: { permissions: ['read_repo'] } })
const service = await createService(t, {
  files,
  tools: Object.keys(files).map(path => path.slice('tools/bin/'.length)).map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`] })),
  env: { API_KEYS_JSON }
})
const { client } = service
const redis = new Redis(service.redis.socket)
t.teardown(() => { redis.disconnect() })

const promote = async (id: string, key?: string): Promise<number> => (await client.request(`/v1/jobs/${id}/promote`, { method: 'POST', ...(key && { key }) })).status
const remove = async (id: string, key?: string): Promise<number> => (await client.request(`/v1/jobs/${id}`, { method: 'DELETE', ...(key && { key }) })).status
/** Runs the failed jobs with a tag again; how many were. */
async function runAgain (tag: string, key: string = testKeys.admin): Promise<number> {
  const { body: { bulk: { id } } } = await client.request<{ bulk: { id: string } }>('/v1/bulk', { body: { action: 'run_again', filter: { tag } }, key })
  return await waitFor('it is done', async () => {
    const { body: { bulk } } = await client.request<{ bulk: BulkView }>(`/v1/bulk/${id}`, { key })
    return bulk.state === 'done' ? bulk : undefined
  }).then(bulk => bulk.changed)
}
const keysOf = async (id: string): Promise<string[]> => await redis.keys(`*${id}*`)

t.test('a delayed job says when it is due, and is promoted once', async t => {
  const { id, due_at: due, created_at: created } = await submit(client, { type: 'agentcli.prints', input: { text: 'x' }, delay_ms: 600_000 })
  t.equal(Date.parse(due ?? '') - Date.parse(created), 600_000)
  t.equal(await remove(id), 409, 'it has not ended')
  t.equal(await promote(id, testKeys.read), 403)
  t.equal(await promote(id), 200)
  const job = await reach(client, id, 'succeeded')
  t.match(job, { result: { text: 'x' } })
  t.notOk('due_at' in job)
  t.equal(await promote(id), 409)
})

t.test('a job that has ended is removed with all that is kept of it', async t => {
  for (const tool of ['prints', 'fails']) {
    const { id } = await submit(client, { type: `agentcli.${tool}`, input: { text: 'r'.repeat(9_000) }, tags: ['short'] })
    await reach(client, id, 'succeeded', 'failed')
    t.ok((await keysOf(id)).length > 0)
    t.equal(await remove(id, testKeys.read), 403)
    t.equal(await remove(id), 200)
    t.same(await keysOf(id), [])
    t.equal((await client.request(`/v1/jobs/${id}`)).status, 404)
    t.equal(await remove(id), 404)
  }
  t.same((await client.request<{ jobs: unknown[] }>('/v1/jobs?tag=short')).body.jobs, [])
})

t.test('a job that runs is neither promoted nor removed', async t => {
  const { id } = await submit(client, { type: 'agentcli.waits' })
  await reach(client, id, 'running')
  t.same([await promote(id), await remove(id)], [409, 409])
  await cancel(client, id)
  t.equal(await promote(id), 409)
})

t.test('fault 36 the jobs of other queues are unknown to a key', async t => {
  const { id } = await submit(client, { type: 'agentcli.prints', queue: 'apart', delay_ms: 600_000 })
  t.same([await promote(id, testKeys.limited), await remove(id, testKeys.limited)], [404, 404])
  await cancel(client, id)
})

t.test('a failed job that is run again runs as if for the first time', async t => {
  const { id } = await submit(client, { type: 'agentcli.breaks', max_attempts: 2, tags: ['again'] })
  await reach(client, id, 'failed')
  // Left behind by a worker that died, and a canceller that died.
  await redis.hmset(`toolyard:{default}:${id}`, { ats: 7, stc: 2, cancelled: '1' })
  await client.call('mends')
  t.equal(await runAgain('again', keys.reading), 0, 'a key runs nothing again that it could not have submitted')
  t.equal(await runAgain('again'), 1)
  t.match(await reach(client, id, 'succeeded', 'failed', 'cancelled'), { status: 'succeeded', result: 'done', error: null, attempts: 1, max_attempts: 2 })
  const { body: { logs } } = await client.request<{ logs: Array<{ message: string, meta: unknown }> }>(`/v1/jobs/${id}/logs`)
  t.match(logs, [{ message: /looking/ }, { message: /looking/ }, { message: 'Run again by an operator', meta: { key: 'admin' } }, { message: /looking/ }])
  t.match((await client.request<{ jobs: unknown[] }>('/v1/jobs?tag=again')).body.jobs, [{ id, status: 'succeeded', error: null, attempts: 1 }])
  t.equal(await runAgain('again'), 0, 'what has succeeded is not run again')
})

t.test('a cancelled job stays cancelled', async t => {
  const { id } = await submit(client, { type: 'agentcli.waits', tags: ['apart'] })
  await reach(client, id, 'running')
  await cancel(client, id)
  t.equal(await runAgain('apart'), 0)
  await reach(client, id, 'cancelled')
})
