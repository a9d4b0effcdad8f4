import type { InvokeBatchResponse, JobLogsResponse, SessionView } from '@toolyard/contract'
import { openCallbacksKey } from '@toolyard/store'
import type { Redis } from 'ioredis'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { callbackEnv, startReceiver } from '../callbacks/receiver.ts'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, reach, submit } from '../jobs/submission.ts'
import { hasPython } from '../support/python.ts'
import { chatterEntry, chatterFiles, chatterLines } from '../streams/tools.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { bundleOf, createService } from '../support/service.ts'
import { runsOf, stampEntries, stampFiles } from './stamp.ts'

t.setTimeout(300_000)
// They wait, and each has a Redis of its own.
t.jobs = 2

const tools = { files: { ...programs, ...stampFiles }, tools: [...entries, ...stampEntries] }

async function usedBytes (redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}

void t.test('fault 28 Redis is full while calls run and wait: workers keep their locks, they run once and keep their outcome; new calls get an error', { buffered: true }, async t => {
  const service = await createService(t, { ...tools, env: { WORKER_CONCURRENCY: '6' } })
  const { client } = service
  const redis = plainRedis(t, service.redis)
  // Another worker would take what is not held.
  await service.startWorker({ WORKER_CONCURRENCY: '1' })
  const marks = Array.from({ length: 14 }, (_, index) => `f${index}`)
  const ids: string[] = []
  for (const mark of marks) ids.push((await submit(client, { type: 'agentcli.once', input: { mark, sec: '5' } })).id)
  const large = await submit(client, { type: 'agentcli.big', input: { char: 'x', count: 50_000 } })
  const unwanted = await submit(client, { type: 'agentcli.once', input: { mark: 'unwanted' }, delay_ms: 60_000 })
  await waitFor('some run, some wait', () => runsOf(service).size === 7)
  await redis.config('SET', 'maxmemory', '1mb')
  const refused = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'echo' }] } })
  t.match(refused.body, { results: [{ ok: false, error: { code: 'QUEUE_FULL', message: /Redis/ } }] })
  t.match((await cancel(client, unwanted.id)).body, { job: { status: 'cancelled' } }, 'a job can be cancelled')
  for (const id of ids) t.match(await reach(client, id, 'succeeded', 'failed'), { status: 'succeeded', error: null })
  t.match(await reach(client, large.id, 'succeeded', 'failed'), { status: 'succeeded', error: null }, 'an output without room is shown in part')
  t.same(runsOf(service), new Map(marks.map(mark => [mark, 1])))
  t.equal((await client.request('/ready')).status, 200)
  await redis.config('SET', 'maxmemory', '0')
  t.equal((await client.call('echo')).ok, true)
})

void t.test('fault 28 when Redis is full of ended jobs, they are removed when they are old enough, and calls are served again', { buffered: true }, async t => {
  const service = await createService(t, { ...tools, env: { JOB_RETENTION_SEC: '60' } })
  const { client } = service
  const redis = plainRedis(t, service.redis)
  for (let count = 0; count < 8; count++) t.equal((await client.call('big', { char: 'x', count: 500_000 })).ok, true)
  await redis.config('SET', 'maxmemory', String(await usedBytes(redis) - 1_000_000))
  t.match(await client.call('echo'), { ok: false, error: { code: 'QUEUE_FULL' } })
  await waitFor('it serves again', async () => (await client.call('echo')).ok, 120_000)
  for (const app of [service.api, ...service.workers]) t.equal(app.child.exitCode, null)
})

void t.test('fault 28 a call that logs while Redis is full for a moment has its whole log', { buffered: true }, async t => {
  const service = await createService(t, { files: chatterFiles, tools: [chatterEntry] })
  const { client } = service
  const redis = plainRedis(t, service.redis)
  const { id } = await submit(client, { type: 'agentcli.chatter', input: { lines: 60, everyMs: 25 } })
  await waitFor('it talks', async () => await redis.xlen(`toolyard:{default}:${id}:log`) > 5)
  await redis.config('SET', 'maxmemory', '1mb')
  await setTimeout(500)
  await redis.config('SET', 'maxmemory', '0')
  await reach(client, id, 'succeeded')
  const { body } = await client.request<JobLogsResponse>(`/v1/jobs/${id}/logs?tail=100`)
  t.same(body.logs.map(({ message }) => message.trim()), chatterLines(0, 60))
})

void t.test('fault 28 a workflow goes on when Redis has room again: its steps run once', { buffered: true }, async t => {
  const step = (name: string, after: string[]): object => ({ name, tool: 'once', depends_on: after, arguments: { mark: name, sec: '0.8' } })
  const service = await createService(t, {
    files: { ...stampFiles, 'workspace/workflows.yaml': JSON.stringify({ workflows: { chain: { steps: [step('a', []), step('b', ['a']), step('c', ['b'])] } } }) },
    tools: stampEntries
  })
  const redis = plainRedis(t, service.redis)
  const { id } = await submit(service.client, { type: 'workflow.run', input: { workflow: 'chain' } })
  await waitFor('the first step runs', () => runsOf(service).size === 1)
  await redis.config('SET', 'maxmemory', '1mb')
  await setTimeout(2_000)
  await redis.config('SET', 'maxmemory', '0')
  t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded', error: null })
  t.same(runsOf(service), new Map([['a', 1], ['b', 1], ['c', 1]]))
})

/** A serial tool that adds its `mark` to the file `runs`, as the tools of `stamp.ts` do. */
const serial = {
  'bundle/recorder.py': `import time
from pathlib import Path
from toolyard import Tool

class Recorder(Tool):
    def execute(self, mark):
        time.sleep(0.3)
        with Path("runs").open("a") as runs:
            runs.write(f"{mark}\\n")
        return mark
`,
  'bundle/manifest.json': bundleOf({ name: 'record', description: 'Records its runs', module: 'recorder', inputs: { mark: { type: 'string', required: true } }, runtime: { concurrency: 'serial' } })
}

void t.test('fault 28 while Redis is full, calls of a serial tool run one after the other, jobs that wait for others run behind them, and a workflow that is taken waits for room', { skip: hasPython() ? false : 'python3 is not installed', buffered: true }, async t => {
  const workflows = { workflows: { one: { steps: [{ name: 'a', tool: 'once', arguments: { mark: 'step' } }] } } }
  const service = await createService(t, {
    files: { ...stampFiles, ...serial, 'workspace/workflows.yaml': JSON.stringify(workflows) },
    tools: stampEntries,
    manifests: ['bundle/manifest.json', 'tools.json'],
    env: { WORKER_CONCURRENCY: '3' }
  })
  const { client } = service
  const redis = plainRedis(t, service.redis)
  t.match(await submit(client, { type: 'pylot.record', input: { mark: 'warm' } }).then(({ id }) => reach(client, id, 'succeeded', 'failed')), { status: 'succeeded' })
  const first = await submit(client, { type: 'agentcli.once', input: { mark: 'first', sec: '2' } })
  const behind = await submit(client, { type: 'agentcli.once', input: { mark: 'behind' }, depends_on: [first.id] })
  const again = await submit(client, { type: 'agentcli.again', input: { mark: 'fails' }, delay_ms: 1_500 })
  const marks = ['s1', 's2', 's3', 's4', 's5']
  const serials = await Promise.all(marks.map(mark => submit(client, { type: 'pylot.record', queue: 'serial', input: { mark }, delay_ms: 1_200 })))
  const workflow = await submit(client, { type: 'workflow.run', input: { workflow: 'one' }, delay_ms: 1_200 })
  await waitFor('the first one runs', () => runsOf(service).has('first'))
  await redis.config('SET', 'maxmemory', '1mb')
  for (const { id } of [first, behind, again, ...serials]) t.match(await reach(client, id, 'succeeded', 'failed'), { status: 'succeeded', error: null })
  t.not(runsOf(service).get('step'), 1, 'a step is a new job')
  await redis.config('SET', 'maxmemory', '0')
  t.match(await reach(client, workflow.id, 'succeeded', 'failed'), { status: 'succeeded', error: null, attempts: 1 }, 'what waited is no attempt')
  t.same(runsOf(service), new Map(['warm', 'first', 'behind', 'fails', 'step', ...marks].map(mark => [mark, 1])))
})

void t.test('fault 28, RC33 callbacks of jobs that end while Redis is full, and those that wait to be sent again, come once there is room, each with one id', { buffered: true }, async t => {
  const receiver = await startReceiver(t, { '/again': [500, 204] })
  const service = await createService(t, { ...tools, env: callbackEnv })
  const redis = plainRedis(t, service.redis)
  const ends = await submit(service.client, { type: 'agentcli.once', input: { mark: 'ends', sec: '3' }, callback_url: `${receiver.url}/ends` })
  await waitFor('it runs', () => runsOf(service).size === 1)
  const again = await submit(service.client, { type: 'agentcli.echo', callback_url: `${receiver.url}/again` })
  await receiver.at('/again')
  await redis.config('SET', 'maxmemory', '1mb')
  t.match(await reach(service.client, ends.id, 'succeeded', 'failed'), { status: 'succeeded' })
  await redis.config('SET', 'maxmemory', '0')
  t.match((await receiver.at('/ends')).map(({ body }) => body), [{ id: ends.id, status: 'succeeded' }])
  const sent = await receiver.at('/again', 2)
  t.equal(new Set(sent.map(({ headers }) => headers['x-toolyard-delivery'])).size, 1)
  t.match(sent[0]?.body, { id: again.id, status: 'succeeded' })
  await waitFor('none is left to send', async () => await redis.scard(openCallbacksKey) === 0)
  t.equal(receiver.received.filter(({ path }) => path === '/ends').length, 1)
})

void t.test('fault 28 accepted calls in a session run once while Redis is full', { buffered: true }, async t => {
  const service = await createService(t, tools)
  const { client } = service
  const redis = plainRedis(t, service.redis)
  const { body: { session } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  const once = await submit(client, { type: 'agentcli.once', input: { mark: 'of-a-session', sec: '3' }, delay_ms: 1_500, session: session.id })
  await redis.config('SET', 'maxmemory', '1mb')
  const untilOf = async (): Promise<number> => Number((await redis.zrange(`toolyard:{sessions}:in:${session.id}`, '0', '0', 'WITHSCORES'))[1] ?? 0)
  await waitFor('its worker has a lease', async () => await untilOf() > 0)
  const before = await untilOf()
  await waitFor('the lease is renewed', async () => await untilOf() > before)
  t.match(await reach(client, once.id, 'succeeded', 'failed'), { status: 'succeeded', error: null, attempts: 1 })
})

void t.test('a decision about a held call is told that Redis is full, and counts when there is room again', { buffered: true }, async t => {
  const pay = { name: 'pay', schema: { type: 'object' }, command: ['./tools/bin/echo'], approval: { self: true } }
  const service = await createService(t, { ...tools, tools: [...entries, pay] })
  const { client } = service
  const redis = plainRedis(t, service.redis)
  const { id } = await submit(client, { type: 'agentcli.pay' })
  await reach(client, id, 'held')
  const held = await client.held(id)
  const decide = async (): Promise<{ status: number }> => await client.decide(held, 'approve')
  await redis.config('SET', 'maxmemory', '1')
  t.match(await decide(), { status: 503, body: { error: { code: 'UNAVAILABLE', message: /full/ } } })
  await redis.config('SET', 'maxmemory', '0')
  t.match(await decide(), { status: 200 })
  t.match(await reach(client, id, 'succeeded', 'failed'), { status: 'succeeded' })
})
