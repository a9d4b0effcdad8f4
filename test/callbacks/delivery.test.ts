import t from 'tap'
import type { JobLogsResponse, LogEntry } from '@toolyard/contract'
import { openCallbacksKey } from '@toolyard/store'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, reach, read, submit } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService, testKeys } from '../support/service.ts'
import { callbackEnv, documentedCheck, secret, startReceiver } from './receiver.ts'

const receiver = await startReceiver(t, { '/flaky': [503, 500, 200], '/broken': [500], '/moved': [302] })
const asking = `#!/bin/sh
cat > /dev/null
[ -n "$TOOLYARD_ANSWER" ] && exec echo '{"done":true}'
echo '{"$ask":[{"name":"a","text":"A?","schema":{"type":"object"}},{"name":"b","text":"B?","schema":{"type":"object"}}]}'
`
const service = await createService(t, {
  files: { ...programs, 'tools/bin/asking': asking },
  tools: [...entries, { name: 'asking', schema: { type: 'object' }, command: ['./tools/bin/asking'], asks: true }],
  env: callbackEnv
})
const { client } = service
const check = await documentedCheck()
const redis = plainRedis(t, service.redis)

async function callbackLines (id: string): Promise<LogEntry[]> {
  const { body } = await client.request<JobLogsResponse>(`/v1/jobs/${id}/logs`)
  return body.logs.filter(line => line.meta?.['callback'] !== undefined)
}

t.test('RC33, RC21, fault 45 a callback is sent once per job, signed, with the outcome', async t => {
  const job = await submit(client, { type: 'agentcli.echo', input: { word: 'hello' }, callback_url: `${receiver.url}/one?token=hidden` })
  t.equal(job.callback_url, `${receiver.url}/one?token=hidden`)
  const [callback] = await receiver.at('/one?token=hidden')
  if (callback === undefined) throw new Error('nothing arrived')
  const done = await read(client, job.id)
  t.same(callback.body, {
    id: job.id, type: 'agentcli.echo', status: 'succeeded', attempts: 1, max_attempts: 1, result: { word: 'hello' }, error: null, updated_at: done.updated_at
  })
  t.match(callback.headers, { 'content-type': 'application/json', 'x-toolyard-timestamp': /^\d+$/, 'x-toolyard-signature': /^v1=[0-9a-f]{64}$/ })
  t.equal(callback.headers['x-toolyard-delivery'], `${job.id}.${Date.parse(done.updated_at)}`)
  t.equal(check({ headers: callback.headers, body: callback.text }, secret), undefined)
  const [line] = await waitFor('it is in the log', async () => (await callbackLines(job.id)).length > 0 && await callbackLines(job.id))
  t.match(line, { level: 'info', message: /^callback to 127\.0\.0\.1:\d+ delivered: status 204$/, meta: { attempt: 1, status: 204 } })
  t.notMatch(JSON.stringify(line), /hidden|token|\/one/)
})

t.test('RC33, fault 45 a receiver can tell a genuine callback from others', async t => {
  const [callback] = await receiver.at('/one?token=hidden')
  if (callback === undefined) throw new Error('nothing arrived')
  const { headers, text: body } = callback
  t.equal(check({ headers, body }, 'another secret'), 'SIGNATURE_MISMATCH')
  t.equal(check({ headers, body: body.replace('hello', 'jello') }, secret), 'SIGNATURE_MISMATCH')
  t.equal(check({ headers: { ...headers, 'x-toolyard-timestamp': '1' }, body }, secret), 'SIGNATURE_MISMATCH')
  t.equal(check({ headers: { ...headers, 'x-toolyard-timestamp': 'now' }, body }, secret), 'INVALID_TIMESTAMP')
  t.equal(check({ headers: { ...headers, 'x-toolyard-signature': 'v0=00' }, body }, secret), 'INVALID_SIGNATURE_FORMAT')
  t.equal(check({ headers: {}, body }, secret), 'INVALID_TIMESTAMP')
  t.equal(check({ headers, body }, secret, Date.now() + 302_000), 'TIMESTAMP_OUT_OF_TOLERANCE')
  t.equal(check({ headers, body }, secret, Date.now() + 200_000), undefined)
})

t.test('a job whose tool has asked counts its runs in its callback as elsewhere', async t => {
  const { id } = await submit(client, { type: 'agentcli.asking', input: {}, callback_url: `${receiver.url}/asked` })
  await reach(client, id, 'input_required')
  for (const number of [2, 1]) t.equal((await client.request(`/v1/jobs/${id}/answer`, { body: { answer: {}, number } })).status, 200)
  const [callback] = await receiver.at('/asked')
  t.match([callback?.body, await read(client, id)], [{ status: 'succeeded', attempts: 2 }, { status: 'succeeded', attempts: 2 }])
})

t.test('X26, RC32 a job with retries has its callback only after its last failure', async t => {
  const job = await submit(client, { type: 'agentcli.fail', input: { stderr: 'sorry' }, max_attempts: 2, callback_url: `${receiver.url}/failing` })
  const [callback] = await receiver.at('/failing')
  const done = await reach(client, job.id, 'failed')
  t.same(callback?.body, {
    id: job.id, type: 'agentcli.fail', status: 'failed', attempts: 2, max_attempts: 2, result: null, error: { code: 'TOOL_FAILED', message: 'sorry', at: done.updated_at }, updated_at: done.updated_at
  })
})

t.test('X25, X26 a cancelled job has its callback, whether it waited or ran', async t => {
  const waiting = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000, callback_url: `${receiver.url}/waiting` })
  const running = await submit(client, { type: 'agentcli.nap', input: { ms: 15_000 }, callback_url: `${receiver.url}/running` })
  await reach(client, running.id, 'running')
  for (const { id } of [waiting, running]) t.equal((await cancel(client, id)).status, 200)
  for (const [path, attempts, { id }] of [['/waiting', 0, waiting], ['/running', 1, running]] as const) {
    const [callback] = await receiver.at(path)
    t.equal(callback?.headers['x-toolyard-delivery'], `${id}.${Date.parse((await read(client, id)).updated_at)}`)
    t.match(callback?.body, { status: 'cancelled', attempts, result: null, error: { code: 'JOB_CANCELLED' } })
  }
})

t.test('RC33, RC24 each job of a batch has a callback, and a call that became no job has none', async t => {
  const calls = [
    { call_id: 'a', name: 'echo', arguments: { n: 1 } }, { call_id: 'b', name: 'fail' }, { call_id: 'c', name: 'no_such_tool' },
    { call_id: 'd', name: 'big', arguments: { char: 'x', count: 20_000 } }
  ]
  const answer = await client.batch(calls, { callback_url: `${receiver.url}/batch`, queue: 'batches' })
  t.same(answer.results.map(result => result.ok), [true, false, false, true])
  const callbacks = await receiver.at('/batch', 3)
  const bodies = callbacks.map(({ body }) => body).sort((a, b) => a.id < b.id ? -1 : 1)
  t.match(bodies, [
    { type: 'agentcli.echo', status: 'succeeded', result: { n: 1 } },
    { type: 'agentcli.fail', status: 'failed', error: { code: 'TOOL_FAILED' } },
    { type: 'agentcli.big', status: 'succeeded', result: { truncated: true, bytes: 20_002, preview: /^"x{11999}$/ } }
  ])
  const listed = await list(client, '?queue=batches')
  t.same(listed.jobs.map(job => job.callback_url), Array.from({ length: 3 }, () => `${receiver.url}/batch`))
})

t.test('RC33, fault 45 a callback that is not accepted is sent again with the same id, after growing pauses', async t => {
  const job = await submit(client, { type: 'agentcli.echo', callback_url: `${receiver.url}/flaky` })
  const callbacks = await receiver.at('/flaky', 3)
  t.equal(new Set(callbacks.map(({ headers }) => headers['x-toolyard-delivery'])).size, 1)
  t.equal(new Set(callbacks.map(each => each.text)).size, 1)
  for (const { headers, text } of callbacks) t.equal(check({ headers, body: text }, secret), undefined)
  const [first = 0, second = 0, third = 0] = callbacks.map(({ at }) => at)
  t.ok(second - first >= 490 && third - second >= 990, `pauses of ${second - first} and ${third - second} ms`)
  const lines = await waitFor('three lines', async () => (await callbackLines(job.id)).length === 3 && await callbackLines(job.id))
  t.match(lines, [
    { level: 'warn', message: /failed: status 503; next attempt at \d{4}-/, meta: { attempt: 1, next_attempt_at: String } },
    { level: 'warn', message: /failed: status 500; next attempt at /, meta: { attempt: 2 } },
    { level: 'info', message: /delivered: status 200/, meta: { attempt: 3 } }
  ])
})

t.test('RC33, fault 44 a callback that is never accepted is given up; a redirect counts as not accepted and is not followed', async t => {
  const broken = await submit(client, { type: 'agentcli.echo', callback_url: `${receiver.url}/broken` })
  const moved = await submit(client, { type: 'agentcli.echo', callback_url: `${receiver.url}/moved` })
  for (const [{ id }, status] of [[broken, 500], [moved, 302]] as const) {
    const lines = await waitFor('it is given up', async () => (await callbackLines(id)).length === 3 && await callbackLines(id))
    t.match(lines[2], { level: 'error', message: `given up after attempt 3: status ${status}` })
  }
  t.notOk(receiver.received.some(({ path }) => path === '/elsewhere'))
})

t.test('fault 44 a worker refuses an address by its own settings, whatever the API accepted, and does not try again', async t => {
  const open = createClient((await service.startApi({ CALLBACK_ALLOWLIST: '*' })).address, testKeys.admin)
  const job = await submit(open, { type: 'agentcli.echo', callback_url: 'http://elsewhere.test/x' })
  const [line] = await waitFor('it is in the log', async () => (await callbackLines(job.id)).length > 0 && await callbackLines(job.id))
  t.match(line, { level: 'error', message: 'callback to elsewhere.test refused: host not allowlisted: elsewhere.test' })
})

t.test('RC33 a job has its callback though the worker that settled it died before it could send it', async t => {
  const job = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000, queue: 'orphans', callback_url: `${receiver.url}/orphan` })
  const stem = 'toolyard:{orphans}:'
  const now = Date.now()
  await redis.multi().zrem(`${stem}delayed`, job.id).zadd(`${stem}failed`, now, job.id)
    .hset(stem + job.id, { finishedOn: now, failedReason: JSON.stringify({ code: 'TOOL_FAILED', message: 'ended' }) })
    // Where an older release enters it.
    .sadd('toolyard:callbacks:open', `${job.id} orphans`, '0197c9a5-0000-7000-8000-000000000000 orphans').exec()
  const [callback] = await receiver.at('/orphan')
  t.match(callback?.body, { id: job.id, status: 'failed', error: { message: 'ended' } })
})

t.test('no caller can name or see the queue of callbacks, and nothing is left open', async t => {
  t.equal((await client.request('/v1/jobs?queue=%2Bcallbacks')).status, 400)
  t.equal((await client.request('/v1/jobs', { body: { type: 'agentcli.echo', queue: '+callbacks' } })).status, 400)
  t.same((await redis.smembers('toolyard:queues')).sort(), ['batches', 'default', 'orphans'])
  await waitFor('all are posted', async () => await redis.scard(openCallbacksKey) === 0)
  const [callback] = receiver.received
  t.equal((await client.request(`/v1/jobs/${callback?.headers['x-toolyard-delivery'] as string}`)).status, 404)
  const counts = new Map<string, number>()
  for (const { path } of receiver.received) counts.set(path, (counts.get(path) ?? 0) + 1)
  t.same(Object.fromEntries(counts), { '/one?token=hidden': 1, '/asked': 1, '/failing': 1, '/waiting': 1, '/running': 1, '/batch': 3, '/flaky': 3, '/broken': 3, '/moved': 3, '/orphan': 1 })
})
