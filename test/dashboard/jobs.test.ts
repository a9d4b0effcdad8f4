import type { QueueList } from '@toolyard/contract'
import { Redis } from 'ioredis'
import { hostname } from 'node:os'
import t from 'tap'
import { cancel, reach, submit, type Job } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { openVisit } from './visitor.ts'

const script = (text: string): string => `#!/usr/bin/env node\n${text}\n`
const files = {
  // Fails until somebody has mended it.
  'tools/bin/breaks': script(`
    console.error('looking for the part')
    if (require('node:fs').existsSync('mended')) console.log('"done"')
    else process.exit(3)`),
  'tools/bin/prints': script('let text = ""; process.stdin.on("data", d => { text += d }).on("end", () => console.log(JSON.stringify({ got: JSON.parse(text).text, rows: "r".repeat(JSON.parse(text).rows ?? 0) })))'),
  'tools/bin/mends': script('require("node:fs").writeFileSync("mended", ""); console.log("{}")'),
  'tools/bin/fails': script('process.exit(1)'),
  'tools/bin/waits': script('setTimeout(() => {}, 60_000)')
}
const schema = { type: 'object', properties: { text: { type: 'string' }, rows: { type: 'integer' } } }
const tools = Object.keys(files).map(path => path.slice('tools/bin/'.length)).map(name => ({ name, description: name, schema, command: [`./tools/bin/${name}`] }))
const keys = [
  { name: 'admin', key: 'test-admin-key-0123456789', role: 'admin' },
  { name: 'reading', key: 'test-reading-key-0123456789', role: 'admin', permissions: ['read_repo'] }
]
const service = await createService(t, { files, tools, env: { REDACT: 'hunter\\d+', API_KEYS_JSON: JSON.stringify(keys) } })
const { client } = service
const redis = new Redis(service.redis.socket)
t.teardown(() => { redis.disconnect() })
const { api } = await openVisit(service.api.address)

const run = async (tool: string, input: object = {}, more: object = {}): Promise<Job> => {
  const { id } = await submit(client, { type: `agentcli.${tool}`, input, ...more })
  return await reach(client, id, 'succeeded', 'failed')
}
interface Shown { job: Record<string, unknown>, status: string }
const shown = async (id: string, queue = 'default'): Promise<Shown> => (await api(`/queues/${queue}/${id}`)).body as unknown as Shown
const act = async (id: string, action: string, queue = 'default'): Promise<number> => (await api(`/queues/${queue}/${id}/${action}`, 'PUT')).status
const keysOf = async (id: string): Promise<string[]> => await redis.keys(`*${id}*`)

t.test('a failed job shows its error and its log in words', async t => {
  const { id } = await run('breaks')
  const { job, status } = await shown(id)
  t.equal(status, 'failed')
  t.match(job, { name: 'agentcli.breaks', failedReason: 'TOOL_FAILED: looking for the part', stacktrace: ['TOOL_FAILED: looking for the part'], priority: 5 })
  const logs = await api(`/queues/default/${id}/logs`)
  t.match(JSON.parse(logs.text), [/^\d{4}-.*Z info looking for the part$/])
  const { body } = await api('/queues?activeQueue=default&status=failed&page=1&jobsPerPage=1000')
  t.match(body['queues'], [{ name: 'default', counts: { failed: 1 }, hasWorkers: true, jobs: [{ id, failedReason: /TOOL_FAILED/ }] }])
})

t.test('fault 39 secrets are hidden in the arguments and outputs of a job', async t => {
  const { id } = await run('prints', { text: 'my password is hunter2, my key test-admin-key-0123456789' })
  const text = JSON.stringify(await shown(id))
  t.notMatch(text, /hunter2|test-admin-key/)
  t.match((await shown(id)).job['returnValue'], { got: 'my password is ***REDACTED***, my key ***REDACTED***' })
  t.match((await shown(id)).job['data'], { tool: 'prints', key: 'admin', timeout_sec: 30 })
  t.notMatch(text, /replyTo/)
})

t.test('a large output is shown in part', async t => {
  const { id } = await run('prints', { text: 'x', rows: 50_000 })
  t.match((await shown(id)).job['returnValue'], { truncated: true, bytes: 50_021, preview: /^\{"got":"x"/ })
  const { id: long } = await submit(client, { type: 'agentcli.prints', input: { text: `${'y'.repeat(65_530)}hunter2` }, delay_ms: 600_000 })
  const args = (await shown(long)).job['data']
  // A machine that is too busy to look at all of it hides it as a whole.
  t.match(args, { cut: true, beginning: /^(\{"tool":"prints"|\*\*\*REDACTED\*\*\*$)/ })
  t.notMatch(JSON.stringify(args), /hunt/, 'no part of a secret is left where it is cut')
})

t.test('a failed job that is run again runs as if for the first time', async t => {
  const { id } = await run('breaks', {}, { max_attempts: 2, tags: ['again'] })
  // What a worker that died, and a canceller that died, leave behind.
  const key = `toolyard:{default}:${id}`
  await redis.hmset(key, { ats: 7, stc: 2, cancelled: '1' })
  await run('mends')
  t.equal(await act(id, 'retry'), 204)
  t.match(await reach(client, id, 'succeeded', 'failed', 'cancelled'), { status: 'succeeded', result: 'done', error: null, attempts: 1, max_attempts: 2, tags: ['again'] })
  t.match(JSON.parse((await api(`/queues/default/${id}/logs`)).text), [
    / info looking/, / info looking/, / info Run again by an operator \{"key":"admin"\}$/, / info looking/
  ])
  const listed = await client.request<{ jobs: Job[] }>('/v1/jobs?tag=again')
  t.match(listed.body.jobs, [{ id, status: 'succeeded', error: null, attempts: 1 }])
  t.equal(await act(id, 'retry'), 409, 'what has succeeded is not run again')
})

t.test('a key can\'t run a job again that it couldn\'t have submitted', async t => {
  const { id } = await run('waits', {}, { timeout_sec: 1 })
  const reading = await openVisit(service.api.address, 'test-reading-key-0123456789')
  t.match((await reading.api(`/queues/default/${id}/retry`, 'PUT')).body, { message: /permissions/ })
  t.match((await reading.api('/queues/default/retry/failed', 'PUT')).body, { retried: 0 })
  t.match(await reach(client, id, 'failed'), { error: { code: 'TOOL_TIMEOUT' } })
})

t.test('a cancelled job stays cancelled', async t => {
  const { id } = await submit(client, { type: 'agentcli.waits', queue: 'apart' })
  await reach(client, id, 'running')
  t.equal(await act(id, 'clean', 'apart'), 409, 'a running job is not removed')
  await cancel(client, id)
  t.match((await api(`/queues/apart/${id}/retry`, 'PUT')), { status: 409, body: { error: 'Not done', message: /cancelled for good/ } })
  t.match((await api('/queues/apart/retry/failed', 'PUT')).body, { retried: 0, skipped: 1 })
  await reach(client, id, 'cancelled')
})

t.test('a delayed job can be promoted, but not removed', async t => {
  const { id } = await submit(client, { type: 'agentcli.prints', input: { text: 'x' }, delay_ms: 600_000 })
  t.equal((await api(`/queues/default/${id}/clean`, 'PUT')).status, 409)
  t.equal((await api('/queues/default/clean/delayed', 'PUT')).status, 409)
  t.equal(await act(id, 'promote'), 204)
  t.match(await reach(client, id, 'succeeded'), { result: { got: 'x' } })
  t.equal(await act(id, 'promote'), 409)
})

t.test('a job that has ended is removed with all that is kept of it, and its queue disappears with the last one', async t => {
  const one = await run('prints', { text: 'x', rows: 9_000 }, { queue: 'short:lived' })
  const two = await run('fails', {}, { queue: 'short:lived' })
  const isShown = async (): Promise<boolean> => JSON.stringify((await api('/queues')).body).includes('short:lived')
  t.ok((await keysOf(one.id)).length > 1)
  t.ok(await isShown(), 'a queue appears with its first job')
  t.equal(await act(one.id, 'clean', 'short:lived'), 204)
  t.same(await keysOf(one.id), [])
  t.equal((await client.request(`/v1/jobs/${one.id}`)).status, 404)
  t.equal((await api('/queues/short:lived/clean/completed', 'PUT')).status, 200)
  t.equal((await api('/queues/short:lived/clean/failed', 'PUT')).status, 200)
  t.same(await keysOf(two.id), [])
  t.notOk(await isShown())
})

t.test('a queue is paused and resumed; the list of queues tells it', async t => {
  const isPaused = async (): Promise<boolean | undefined> => (await client.request<QueueList>('/v1/queues')).body.queues.find(({ name }) => name === 'default')?.paused
  t.equal(await isPaused(), false)
  t.equal((await api('/queues/default/pause', 'PUT')).status, 200)
  const { id } = await submit(client, { type: 'agentcli.prints', input: { text: 'x' } })
  t.match((await api('/queues')).body['queues'], [{}, { name: 'default', isPaused: true, counts: { prioritized: 1 } }])
  t.equal(await isPaused(), true)
  t.equal((await client.request<{ job: Job }>(`/v1/jobs/${id}`)).body.job.status, 'queued')
  t.equal((await api('/queues/default/resume', 'PUT')).status, 200)
  t.equal(await isPaused(), false)
  await reach(client, id, 'succeeded')
})

t.test('an action that would break a promise to a caller is refused with a reason', async t => {
  const { id } = await run('prints', { text: 'x' })
  const job = `/queues/default/${id}`
  for (const [path, method] of [
    ['/queues/default/add', 'POST'], ['/queues/default/empty', 'PUT'], ['/queues/default/obliterate', 'PUT'], ['/queues/default/promote', 'PUT'],
    ['/queues/default/concurrency', 'PUT'], ['/queues/default/rate-limit', 'PUT'], [`${job}/update-data`, 'PATCH'], [`${job}/delay`, 'PATCH'], [`${job}/priority`, 'PATCH']
  ] as const) {
    t.match(await api(path, method), { status: 403, body: { error: 'Not offered here', message: /\w/ } }, path)
  }
  t.equal((await api('/queues/default/retry/completed', 'PUT')).status, 400)
  for (const path of ['/queues/nowhere/1', '/queues/default/00000000-0000-7000-8000-000000000000', '/nonsense']) t.equal((await api(path)).status, 404, path)
  t.equal((await api('/queues?page=0')).status, 400)
})

t.test('a queue shows the workers that serve it', async t => {
  const { body } = await api('/queues/default/workers')
  t.match(body, { workers: [{ id: /^[\w-]+$/, addr: hostname(), age: Number }] })
  t.equal((body['workers'] as unknown[]).length, 1)
})

t.test('a view of the dashboard opens no new connections to Redis', async t => {
  const count = async (): Promise<number> => String(await redis.client('LIST')).trim().split('\n').filter(line => /name=toolyard-(request|subscriber)/.test(line)).length
  const { id } = await run('prints', { text: 'x' })
  const before = await count()
  const all = String(await redis.client('LIST')).trim().split('\n').length
  await Promise.all(Array.from({ length: 5 }, () => ['/queues?activeQueue=default', '/redis/stats', `/queues/default/${id}`, `/queues/default/${id}/flow`, `/queues/default/${id}/logs`, '/queues/default/workers', '/job-schedulers']).flat().map(async path => {
    t.equal((await api(path)).status, 200, path)
  }))
  t.equal(await count(), before)
  await waitFor('no further connection', async () => String(await redis.client('LIST')).trim().split('\n').length <= all)
})

t.test('the dashboard says when Redis is away', async t => {
  redis.disconnect()
  await service.redis.stop()
  t.match(await api('/queues'), { status: 503, body: { ok: false, error: { code: 'UNAVAILABLE' } } })
  await service.redis.start()
})
