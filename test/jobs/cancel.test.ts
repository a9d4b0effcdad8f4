import type { JobResponse } from '@toolyard/contract'
import { Redis } from 'ioredis'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, reach, read, submit } from './submission.ts'

/** Leaves a grandchild that left the session, then waits like it. */
const family = `#!/bin/sh
setsid sh -c 'sleep 97531 & wait' &
touch family-runs
wait
`
const service = await createService(t, {
  files: { ...programs, 'tools/bin/family': family },
  tools: [...entries, { name: 'family', schema: { type: 'object' }, command: ['./tools/bin/family'] }],
  workers: 2
})
const { client } = service
const redis = new Redis(service.redis.socket)
t.teardown(() => { redis.disconnect() })
const cancelledError = { code: 'JOB_CANCELLED', message: 'Job was cancelled' }

t.test('fault 9, X25 cancelling a running job kills its whole tree within a second, and it stays cancelled', async t => {
  const job = await submit(client, { type: 'agentcli.family', max_attempts: 3 })
  await waitFor('the tool runs', () => existsSync(join(service.dir, 'workspace/family-runs')) && sleepers().length > 0)
  const answer = await cancel(client, job.id)
  t.equal(answer.status, 200)
  t.match(answer.body, { ok: true, job: { id: job.id, status: 'cancelled', error: cancelledError } })
  await waitFor('the tree is gone', () => sleepers().length === 0, 1_000)
  await waitFor('the worker has let go of it', async () => await redis.llen('toolyard:{default}:active') === 0)
  t.match(await read(client, job.id), { status: 'cancelled', attempts: 1 })
})

t.test('RC25 cancelling again is a 200, cancelling a finished job a 409, an unknown one a 404', async t => {
  const waiting = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000 })
  const first = await cancel(client, waiting.id)
  t.match(first.body.job, { status: 'cancelled', attempts: 0, error: cancelledError })
  const again = await cancel(client, waiting.id)
  t.equal(again.status, 200)
  t.same(again.body, first.body)
  const done = await submit(client, { type: 'agentcli.echo' })
  const failed = await submit(client, { type: 'agentcli.fail' })
  await reach(client, done.id, 'succeeded')
  await reach(client, failed.id, 'failed')
  for (const { id } of [done, failed]) {
    const refused = await cancel(client, id)
    t.equal(refused.status, 409)
    t.same(refused.body, { ok: false, error: { code: 'CONFLICT', message: 'Job already finished' }, request_id: refused.headers.get('x-request-id') })
  }
  for (const id of ['0197c9a5-0000-7000-8000-000000000000', 'not-an-id', 'meta']) {
    const unknown = await cancel(client, id)
    t.equal(unknown.status, 404, id)
    t.same(unknown.body, { ok: false, error: { code: 'NOT_FOUND', message: 'Job not found' }, request_id: unknown.headers.get('x-request-id') })
  }
  t.equal((await cancel(client, done.id, { key: testKeys.read })).status, 403, 'cancelling is writing')
})

t.test('fault 36 a job in a queue that the key may not use can not be cancelled, and looks unknown', async t => {
  const job = await submit(client, { type: 'agentcli.echo', queue: 'private', delay_ms: 60_000 })
  t.equal((await cancel(client, job.id, { key: testKeys.limited })).status, 404)
  t.equal((await read(client, job.id)).status, 'queued')
  const own = await submit(client, { type: 'agentcli.echo', queue: 'allowed', delay_ms: 60_000 }, { key: testKeys.limited })
  t.equal((await cancel(client, own.id, { key: testKeys.limited })).status, 200)
})

t.test('RC13 a caller that waits for a job hears of its cancel at once, whichever API process cancels it', async t => {
  const other = createClient((await service.startApi()).address, testKeys.admin)
  const waiting = client.call('nap', { ms: 15_000 }, { queue: 'awaited', wait_ms: 30_000 })
  const job = await waitFor('the job runs', async () => (await list(client, '?queue=awaited&status=running')).jobs[0])
  const startedAt = performance.now()
  t.equal((await cancel(other, job.id)).status, 200)
  t.match(await waiting, { ok: false, error: cancelledError })
  t.ok(performance.now() - startedAt < 5_000)
})

t.test('two simultaneous cancels of the same job both succeed', async t => {
  const job = await submit(client, { type: 'agentcli.nap', input: { ms: 15_000 } })
  await reach(client, job.id, 'running')
  const answers = await Promise.all([cancel(client, job.id), cancel(client, job.id), cancel(client, job.id)])
  t.same(answers.map(answer => answer.body.job.status), ['cancelled', 'cancelled', 'cancelled'])
})

t.test('a worker that missed the message notices at the next renewal of its lock', async t => {
  const job = await submit(client, { type: 'agentcli.nap', input: { ms: 18_000, mark: 'deaf-runs' } })
  await waitFor('the tool runs', () => existsSync(join(service.dir, 'workspace/deaf-runs')))
  const subscribers = (await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub') as string).trim().split('\n')
  const kill = redis.pipeline()
  for (const line of subscribers) kill.call('CLIENT', 'KILL', 'ID', /id=(\d+)/.exec(line)?.[1] ?? '')
  const [, answer] = await Promise.all([kill.exec(), cancel(client, job.id)])
  t.equal(answer.body.job.status, 'cancelled')
  await waitFor('the process is gone', () => !commandLines().some(line => line.includes('tools/bin/nap')), 5_000)
  t.equal((await read(client, job.id)).status, 'cancelled')
})

t.test('a job is cancelled though its canceller died half way', async t => {
  const job = await submit(client, { type: 'agentcli.nap', input: { ms: 15_000 }, queue: 'half', delay_ms: 60_000 })
  const stem = 'toolyard:{half}:'
  await redis.multi().hset(stem + job.id, 'cancelled', '1').zrem(`${stem}delayed`, job.id).lpush(`${stem}active`, job.id)
    .set(`${stem}${job.id}:lock`, 'of-a-dead-process', 'PX', 500).exec()
  t.match(await read(client, job.id), { status: 'cancelled', error: cancelledError })
  await waitFor('a worker has settled it', async () => await redis.hget(stem + job.id, 'finishedOn') !== null)
  t.match(await read(client, job.id), { status: 'cancelled', error: cancelledError })
})

t.test('fields that are written after a job was removed don\'t make a job: the answer is 404', async t => {
  const job = await submit(client, { type: 'agentcli.nap', input: { ms: 1 }, queue: 'late' })
  await reach(client, job.id, 'succeeded')
  const key = `toolyard:{late}:${job.id}`
  await redis.multi().del(key).hset(key, 'ats', '-1').exec()
  t.equal((await client.request(`/v1/jobs/${job.id}`)).status, 404)
})

t.test('a client that goes away with on_disconnect: cancel takes its jobs with it', async t => {
  const body = { queue: 'left', on_disconnect: 'cancel', calls: ['a', 'b'].map(id => ({ call_id: id, name: 'nap', arguments: { ms: 15_000 } })) }
  const abort = new AbortController()
  const gone = client.request('/v1/agent-tools/invoke-batch', { body, signal: abort.signal }).catch((error: unknown) => error as Error)
  await waitFor('both run', async () => (await list(client, '?queue=left&status=running')).count === 2)
  abort.abort()
  t.equal((await gone as Error).name, 'AbortError')
  await waitFor('both are cancelled', async () => (await list(client, '?queue=left&status=cancelled')).count === 2)
  const bad = await client.request<JobResponse>('/v1/agent-tools/invoke-batch', { body: { ...body, on_disconnect: 'stop' } })
  t.equal(bad.status, 400)
  t.match(bad.body, { error: { message: "'on_disconnect' must be 'leave' or 'cancel'" } })
})

function sleepers (): string[] {
  return commandLines().filter(line => line === 'sleep\u000097531\u0000')
}

/** Arguments of all processes, separated by NUL. */
function commandLines (): string[] {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(pid => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  })
}
