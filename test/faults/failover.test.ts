import type { CallError } from '@toolyard/contract'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisSentinels, type RedisSentinels } from '../support/redis-sentinels.ts'
import { startProcesses, type Processes } from '../support/service.ts'
import { runsOf, stampEntries, stampFiles } from './stamp.ts'

t.setTimeout(300_000)
// They wait, and each has a Redis of its own.
t.jobs = 2

const marks = Array.from({ length: 10 }, (_, index) => `m${index}`)
const once = new Map(marks.map(mark => [mark, 1]))

/** Ten calls of a tool that isn't idempotent, in the queue. */
async function submitAll ({ client }: Processes, sec: string): Promise<string[]> {
  const ids: string[] = []
  for (const mark of marks) ids.push((await submit(client, { type: 'agentcli.once', input: { mark, sec } })).id)
  return ids
}

async function start (t: Test, replicas: string): Promise<{ redis: RedisSentinels, service: Processes }> {
  const redis = await startRedisSentinels(t)
  const service = await startProcesses(t, redis.env, { files: stampFiles, tools: stampEntries, workers: 0, env: { REDIS_WAIT_REPLICAS: replicas, WORKER_CONCURRENCY: '10' } })
  return { redis, service }
}

async function promote ({ master, replica }: RedisSentinels): Promise<void> {
  await master.kill()
  await waitFor('the replica is the master', async () => /role:master/.test(await replica.client.info('replication')), 60_000)
}

async function isInStep ({ master, replica }: RedisSentinels): Promise<void> {
  const offset = async (server: typeof master, name: string): Promise<string | undefined> => new RegExp(`${name}:(\\d+)`).exec(await server.client.info('replication'))?.[1]
  await waitFor('the replica has all', async () => await offset(master, 'master_repl_offset') === await offset(replica, 'slave_repl_offset'))
}

void t.test('failover: a tool that isn\'t idempotent starts only when a replica knows of it, so that no failover runs it twice', { buffered: true }, async t => {
  const { redis, service } = await start(t, '1')
  const ids = await submitAll(service, '0')
  await isInStep(redis)
  redis.replica.signal('SIGSTOP')
  const worker = await service.startWorker()
  await waitFor('the worker says why nothing runs', async () => /is not run now/.test(await worker.output()))
  await delay(2_000)
  t.same(runsOf(service), new Map(), 'nothing runs that the replica does not know of')
  const killed = redis.master.kill()
  redis.replica.signal('SIGCONT')
  await killed
  await promote(redis)
  await delay(2_000)
  t.same(runsOf(service), new Map(), 'nor when there is no replica')
  await redis.master.start()
  const succeeded = new Map<string, number>()
  for (const [index, id] of ids.entries()) {
    const job = await waitFor('it ends', async () => await reach(service.client, id, 'succeeded', 'failed').catch(() => undefined), 90_000)
    if (job.status === 'succeeded') succeeded.set(marks[index] ?? '', 1)
    // The worker may have lost its lock while the beginning was on its way.
    else t.match(job.error, { code: 'WORKER_LOST' })
  }
  t.same(runsOf(service), succeeded)
})

void t.test('failover: calls that run while the master is lost run once, whichever worker settles them', { buffered: true }, async t => {
  const { redis, service } = await start(t, 'auto')
  await service.startWorker()
  const ids = await submitAll(service, '3')
  await waitFor('all run', () => runsOf(service).size === marks.length)
  await promote(redis)
  await service.startWorker()
  for (const id of ids) {
    const job = await waitFor('it ends', async () => await reach(service.client, id, 'succeeded', 'failed').catch(() => undefined), 90_000)
    t.ok(job.status === 'succeeded' || job.error?.code === 'WORKER_LOST', JSON.stringify(job.error))
  }
  t.same(runsOf(service), once)
})

void t.test('failover: with auto, nobody waits for a replica that is gone for long', { buffered: true }, async t => {
  const { redis, service } = await start(t, 'auto')
  const ids = await submitAll(service, '0')
  redis.replica.signal('SIGSTOP')
  await service.startWorker()
  for (const id of ids) t.match(await waitFor('it ends', async () => await reach(service.client, id, 'succeeded', 'failed').catch(() => undefined), 60_000), { status: 'succeeded' })
  t.same(runsOf(service), once)
})

void t.test('failover: a job is acknowledged only when the replica has it: no acknowledged job is lost, and others may exist', { buffered: true }, async t => {
  const { redis, service } = await start(t, '1')
  const { client } = service
  const withKey = { headers: { 'idempotency-key': 'k1' } }
  const body = (mark: string): object => ({ type: 'agentcli.again', input: { mark } })
  const batch = { mode: 'async', calls: marks.map(mark => ({ call_id: mark, name: 'again', arguments: { mark } })) }
  const kept = [(await submit(client, body('kept'))).id]
  const async = await client.request<{ results: Array<{ job_id: string }> }>('/v1/agent-tools/invoke-batch', { body: batch })
  kept.push(...async.body.results.map(result => result.job_id))
  await isInStep(redis)
  redis.replica.signal('SIGSTOP')
  const unsure = { ok: false, error: { code: 'UNAVAILABLE', message: /may exist.*Idempotency-Key/, details: { may_exist: true } } }
  for (const [path, sent] of [['/v1/jobs', body('without a key')], ['/v1/agent-tools/invoke-batch', { ...batch, mode: 'sync', wait_ms: 100 }], ['/v1/agent-tools/invoke-batch', batch]] as const) {
    const answer = await client.request(path, { body: sent })
    t.equal(answer.status, 503, path)
    t.match(answer.body, unsure)
  }
  for (const which of ['the first request', 'its repeat']) {
    const { status, body: { error } } = await client.request<{ error: CallError }>('/v1/jobs', { body: body('m0'), ...withKey })
    t.match({ status, error }, { status: 503, error: { code: 'UNAVAILABLE' } }, `${which} with a key makes no job, since no replica has the key`)
    t.notMatch(error.details, { may_exist: true })
  }
  redis.replica.signal('SIGCONT')
  const found = await waitFor('the replica is back', async () => {
    const answer = await client.request<{ job: { id: string } }>('/v1/jobs', { body: body('m0'), ...withKey })
    return answer.status < 300 && answer
  })
  kept.push(found.body.job.id)
  const sending = new AbortController()
  const sender = (async () => {
    for (let at = 0; !sending.signal.aborted; at++) {
      const answer = await client.request<{ job: { id: string } }>('/v1/jobs', { body: body(`s${at}`) }).catch(() => undefined)
      if (answer?.status === 201) kept.push(answer.body.job.id)
      if (at === 100) void redis.master.kill()
      if (answer?.status !== 201) await delay(100)
    }
  })()
  await waitFor('the replica is the master', async () => /role:master/.test(await redis.replica.client.info('replication')), 60_000)
  sending.abort()
  await sender
  t.ok(kept.length > 100)
  for (const id of kept) t.equal((await waitFor('Redis is back', async () => { const answer = await client.request(`/v1/jobs/${id}`); return answer.status !== 503 && answer }, 30_000)).status, 200)
})

void t.test('failover: a master that was silent for a moment and has a successor acknowledges nothing that is lost then', { buffered: true }, async t => {
  const { redis, service } = await start(t, 'auto')
  const { client } = service
  const revoked: string[] = []
  for (let at = 0; at < 40; at++) await client.request('/v1/keys', { body: { name: `k${at}`, role: 'read' } })
  const kept = await submitAll(service, '0')
  redis.master.signal('SIGSTOP')
  await waitFor('the replica is the master', async () => /role:master/.test(await redis.replica.client.info('replication')), 60_000)
  redis.master.signal('SIGCONT')
  const sending = new AbortController()
  const follows = waitFor('the old master follows the new one', async () => /role:slave/.test(await redis.master.client.info('replication')), 60_000)
  const told = follows.finally(() => { sending.abort() })
  for (let at = 0; !sending.signal.aborted; at++) {
    const made = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.again', input: { mark: `s${at}` } } }).catch(() => undefined)
    if (made?.status === 201) kept.push(made.body.job.id)
    if (at >= 40) continue
    const ended = await client.request(`/v1/keys/k${at}`, { method: 'DELETE' }).catch(() => undefined)
    if (ended?.status === 200) revoked.push(`k${at}`)
  }
  await told
  t.ok(kept.length > marks.length, 'its successor serves before Sentinels tell it so')
  const found = async (id: string): Promise<number> => await waitFor('Redis is back', async () => { const { status } = await client.request(`/v1/jobs/${id}`); return status !== 503 && status }, 30_000)
  for (const id of kept) t.equal(await found(id), 200)
  const { body } = await client.request<{ keys: Array<{ name: string }> }>('/v1/keys')
  t.same(body.keys.filter(({ name }) => revoked.includes(name)), [])
})
