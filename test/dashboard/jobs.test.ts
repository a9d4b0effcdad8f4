import { hostname } from 'node:os'
import t from 'tap'
import { reach, submit, type Job } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService } from '../support/service.ts'
import { openVisit } from './visitor.ts'

const script = (text: string): string => `#!/usr/bin/env node\n${text}\n`
const files = {
  'tools/bin/breaks': script(`
    console.error('looking for the part')
    process.exit(3)`),
  'tools/bin/copies': '#!/bin/sh\nexec cat\n',
  'tools/bin/prints': script('let text = ""; process.stdin.on("data", d => { text += d }).on("end", () => console.log(JSON.stringify({ got: JSON.parse(text).text, rows: "r".repeat(JSON.parse(text).rows ?? 0) })))')
}
const schema = { type: 'object', properties: { text: { type: 'string' }, rows: { type: 'integer' } } }
const tools = Object.keys(files).map(path => path.slice('tools/bin/'.length)).map(name => ({ name, description: name, schema, command: [`./tools/bin/${name}`] }))
const service = await createService(t, { files, tools, env: { REDACT: 'hunter\\d+' } })
const { client } = service
const redis = plainRedis(t, service.redis)
const { api } = await openVisit(service.api.address)

const run = async (tool: string, input: object = {}, more: object = {}): Promise<Job> => {
  const { id } = await submit(client, { type: `agentcli.${tool}`, input, ...more })
  return await reach(client, id, 'succeeded', 'failed')
}
interface Shown { job: Record<string, unknown>, status: string }
const shown = async (id: string, queue = 'default'): Promise<Shown> => (await api(`/queues/${queue}/${id}`)).body as unknown as Shown

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

t.test('numbers whose digits a page would lose are shown as texts', async t => {
  const { job: { id } } = JSON.parse((await client.request('/v1/jobs', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"type":"agentcli.copies","input":{"id":725653563933458432,"few":[1.5]}}' })).text) as { job: { id: string } }
  await reach(client, id, 'succeeded')
  t.match((await shown(id)).job, { data: { arguments: { id: '725653563933458432', few: [1.5] } }, returnValue: { id: '725653563933458432', few: [1.5] } })
})

t.test('a large output is shown in part', async t => {
  const { id } = await run('prints', { text: 'x', rows: 50_000 })
  t.match((await shown(id)).job['returnValue'], { truncated: true, bytes: 50_021, preview: /^\{"got":"x"/ })
  const { id: long } = await submit(client, { type: 'agentcli.prints', input: { text: `${'y'.repeat(65_530)}hunter2` }, delay_ms: 600_000 })
  const args = (await shown(long)).job['data']
  // A machine that is too busy to look at all of it hides it as a whole.
  t.match(args, { cut: true, beginning: /^(\{"tool":"prints"|\*\*\*REDACTED\*\*\*$)/ })
  t.notMatch(JSON.stringify(args), /hunt/, 'no part of a secret is left where it is cut')
  for (const first of ['', 'x']) {
    const { id } = await submit(client, { type: 'agentcli.prints', input: { text: `${first}${'😀'.repeat(65_530)}` }, delay_ms: 600_000 })
    const { cut, beginning } = (await shown(id)).job['data'] as { cut: boolean, beginning: string }
    t.ok(cut)
    t.notMatch(beginning, /[\ud800-\udfff]/u, 'nor half of a character')
  }
})

t.test('the dashboard only shows: every change is refused, and says where it is made', async t => {
  const { id } = await run('prints', { text: 'x' })
  const job = `/queues/default/${id}`
  for (const [path, method] of [
    ['/queues/default/add', 'POST'], ['/queues/default/empty', 'PUT'], ['/queues/default/obliterate', 'PUT'], ['/queues/default/pause', 'PUT'],
    ['/queues/pause', 'PUT'], ['/queues/default/retry/failed', 'PUT'], [`${job}/clean`, 'PUT'], [`${job}/retry`, 'PUT'], [`${job}/promote`, 'PUT'],
    [`${job}/update-data`, 'PATCH'], [`${job}/delay`, 'PATCH'], ['/queues/default/job-schedulers/x', 'DELETE'], ['/%71ueues/pause', 'PUT']
  ] as const) {
    t.match(await api(path, method), { status: 403, body: { error: { code: 'FORBIDDEN', message: /console and the API/ } } }, path)
  }
  t.match((await api('/queues')).body['queues'], [{ readOnlyMode: true, allowRetries: false, isPaused: false }])
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
