import type { JobList } from '@toolyard/contract'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, reach, submit } from '../jobs/submission.ts'
import { openReader } from '../streams/event-reader.ts'
import { rpc } from '../mcp/clients.ts'
import { createClient, type Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { startIssuer } from '../support/issuer.ts'
import { createService, testKeys, type Service } from '../support/service.ts'
import { findClocks } from '../support/shifted-clock.ts'
import { runsOf, stampEntries, stampFiles } from './stamp.ts'

t.setTimeout(300_000)

/** Fails at its first run. */
const retried = `#!/bin/sh
[ -e again-mark ] || { touch again-mark; echo no >&2; exit 1; }
echo '{"done":true}'
`
const workflow = { workflows: { two: { steps: [{ name: 'a', tool: 'echo' }, { name: 'b', tool: 'echo', needs: ['a'] }] } } }
const tools = {
  files: { ...programs, ...stampFiles, 'tools/bin/retried': retried, 'workspace/workflows.yaml': JSON.stringify(workflow) },
  tools: [...entries, ...stampEntries, { name: 'retried', schema: { type: 'object' }, command: ['./tools/bin/retried'] }]
}

const clocks = await findClocks()
const skip = 'missing' in clocks ? clocks.missing : false

/** Seconds that the clocks of the API, of another API and of the workers differ from Redis'. */
const shifts: Array<{ name: string, api: number, other: number, workers: [number, number] }> = [
  { name: 'an API is 10 min ahead, and a worker 4 s', api: 600, other: 0, workers: [4, 0] },
  { name: 'an API is 4 s behind, and a worker 4 s', api: -4, other: 4, workers: [0, -4] },
  { name: 'an API is 10 min behind, and the workers are 20 min apart', api: -600, other: 600, workers: [600, -600] }
]

/** Starts Redis with the machine's clock, two APIs and two workers with theirs. */
async function start (
  t: Test, { api, other, workers }: { api: number, other: number, workers: readonly number[] }
): Promise<Service & { apis: [Client, Client], set: (worker: number, sec: number) => Promise<void> }> {
  if ('missing' in clocks) throw new Error(clocks.missing)
  const first = await clocks.shift(t, api)
  const service = await createService(t, { ...tools, workers: 0, env: { ...first.env, WORKER_CONCURRENCY: '10' } })
  const second = await service.startApi((await clocks.shift(t, other)).env)
  const own = await Promise.all(workers.map(sec => clocks.shift(t, sec)))
  await Promise.all(own.map(clock => service.startWorker(clock.env)))
  return {
    ...service,
    apis: [service.client, createClient(second.address, testKeys.admin)],
    set: async (worker, sec) => { await own[worker]?.set(sec) }
  }
}

for (const shift of shifts) {
  void t.test(`clocks: ${shift.name}: calls run once, jobs are due in time, and lists are in order`, { skip }, async t => {
    const service = await start(t, shift)
    const { apis: [client, other] } = service

    // Longer than a lock, so that each is held by renewing it.
    const marks = Array.from({ length: 16 }, (_, index) => `m${index}`)
    const batch = client.batch(marks.map((mark, index) => ({ call_id: mark, name: index % 2 === 0 ? 'once' : 'again', arguments: { mark, sec: '4.5' } })), { wait_ms: 40_000 })

    const startedAt = performance.now()
    const later = await submit(client, { type: 'agentcli.echo', delay_ms: 1_500, queue: 'q' })
    const twice = await submit(client, { type: 'agentcli.retried', max_attempts: 2, queue: 'q' })
    await reach(other, later.id, 'succeeded')
    const lateMs = performance.now() - startedAt - 1_500
    t.ok(lateMs > -50 && lateMs < 4_000, `a delayed job ended ${Math.round(lateMs)} ms after it was due`)
    const { attempts } = await reach(other, twice.id, 'succeeded')
    t.equal(attempts, 2)
    t.ok(performance.now() - startedAt < 10_000, 'a job is run again in time')

    const napping = await submit(client, { type: 'agentcli.nap', queue: 'q', input: { ms: 20_000, mark: 'napping' } })
    const reader = await openReader(t, `${service.api.address}/v1/jobs/${napping.id}/stream`, { key: testKeys.read })
    await reach(client, napping.id, 'running')
    await cancel(other, napping.id)
    await reader.ended()
    t.match(reader.events.at(-1), { name: 'end', data: { status: 'cancelled' } })

    const planned = await submit(client, { type: 'workflow.run', queue: 'q', input: { workflow: 'two' }, timeout_sec: 20 })
    t.equal((await reach(client, planned.id, 'succeeded', 'failed')).status, 'succeeded', 'a workflow ends within its time')

    const made: string[] = []
    for (let count = 0; count < 6; count++) {
      made.unshift((await submit(count % 2 === 0 ? client : other, { type: 'agentcli.echo', queue: 'order' })).id)
      await delay(30)
    }
    const pages: string[] = []
    for (let query = '?queue=order&limit=2'; pages.length < made.length;) {
      const page: JobList = await list(other, query)
      pages.push(...page.jobs.map(({ id }) => id))
      if (page.next_cursor === null) break
      query = `?queue=order&limit=2&cursor=${page.next_cursor}`
    }
    t.same(pages, made, 'a list has the jobs of both APIs in the order of their creation')

    const { body: { token } } = await client.request<{ token: string }>('/v1/auth/sse-token', { body: {} })
    t.equal((await fetch(`${service.api.address}/v1/jobs/${made[0] ?? ''}/stream?stream_token=${token}`)).status, 200, 'a ticket is good at once')

    const { results } = await batch
    for (const result of results) t.match(result, { ok: true }, JSON.stringify(result))
    t.same(runsOf(service), new Map(marks.map(mark => [mark, 1])))
  })
}

void t.test('clocks: the clock of a worker is set forward or back while its calls run: it keeps their locks, and they end', { skip }, async t => {
  const service = await start(t, { api: 0, other: 0, workers: [0] })
  const calls = ['a', 'b', 'c'].map(mark => ({ call_id: mark, name: 'once', arguments: { mark, sec: '8' } }))
  const batch = service.client.batch(calls, { wait_ms: 30_000 })
  await waitFor('all run', () => runsOf(service).size === calls.length)
  // Another worker would take what is not held.
  await service.startWorker()
  await service.set(0, -600)
  // Longer than a lock.
  await delay(4_500)
  await service.set(0, 600)
  for (const result of (await batch).results) t.match(result, { ok: true }, JSON.stringify(result))
  t.same(runsOf(service), new Map(calls.map(({ call_id: mark }) => [mark, 1])))
})

void t.test('clocks: the clock of an API is set back while a tenant has no requests left: it waits for no more than its minute', { skip }, async t => {
  if ('missing' in clocks) throw new Error(clocks.missing)
  const clock = await clocks.shift(t, 0)
  const { client } = await createService(t, { workers: 0, env: { ...clock.env, RATE_LIMIT_PER_MINUTE: '2' } })
  const statuses: number[] = []
  while (!statuses.includes(429)) statuses.push((await client.request('/v1/agent-tools')).status)
  await clock.set(-3_600)
  const { status, headers } = await client.request('/v1/agent-tools')
  t.equal(status, 429)
  t.ok(Number(headers.get('retry-after')) <= 60, `retry-after: ${headers.get('retry-after')}`)
})

void t.test('clocks: an API whose clock is wrong takes the tokens that are good, and none that are over', { skip }, async t => {
  if ('missing' in clocks) throw new Error(clocks.missing)
  const issuer = await startIssuer(t)
  for (const sec of [-86_400, 86_400]) {
    const { api } = await createService(t, { workers: 0, env: { ...(await clocks.shift(t, sec)).env, MCP_AUTH_ISSUER: issuer.url } })
    const list = async (exp: number): Promise<number> => {
      const token = await issuer.token(`${api.address}/mcp`, { claims: { exp } })
      return (await rpc(api.address, 'tools/list', {}, { headers: { authorization: `Bearer ${token}` } })).status
    }
    const now = Math.floor(Date.now() / 1_000)
    t.equal(await list(now + 300), 200, `${sec} s`)
    t.equal(await list(now - 300), 401, `${sec} s`)
  }
})

/** What the keys of turns are when the clock of Redis is set back by an hour: they last for longer by that. */
const setBack = `
local found = 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  if string.find(key, ARGV[1], 1, true) and redis.call('PTTL', key) >= 0 then
    redis.call('PEXPIRE', key, redis.call('PTTL', key) + 3600000)
    found = found + 1
  end
end
return found
`

void t.test('clocks: the clock of Redis is set back: the job of a worker that is lost then runs again in time, and limits of requests end with their minute', async t => {
  const service = await createService(t, { ...tools, workers: 2, env: { WORKER_CONCURRENCY: '1', RATE_LIMIT_PER_MINUTE: '1000' } })
  const redis = new Redis(service.redis.socket)
  t.teardown(() => { redis.disconnect() })
  const shift = async (key: string): Promise<void> => {
    await waitFor(`${key} is shifted`, async () => Number(await redis.eval(setBack, 0, key)) > 0)
  }
  const calls = ['x', 'y'].map(mark => ({ call_id: mark, name: 'again', arguments: { mark, sec: '3' } }))
  const batch = service.client.batch(calls, { wait_ms: 20_000 })
  await waitFor('both run', () => runsOf(service).size === calls.length)
  await shift(':stalled-check')
  await shift('upkeep:lost-jobs')
  await shift('rate:')
  await service.workers[0]?.stop('SIGKILL')
  for (const result of (await batch).results) t.match(result, { ok: true }, JSON.stringify(result))
  t.equal([...runsOf(service).values()].reduce((sum, runs) => sum + runs), 3)
  await service.client.request('/v1/agent-tools')
  for (const key of await redis.keys('*rate:*')) t.ok(await redis.pttl(key) <= 60_000)
})
