import type { ApprovalDetail, InvokeBatchResponse } from '@toolyard/contract'
import t from 'tap'
import type { Test } from 'tap'
import { read, reach, submit, type Job } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisSentinels, type RedisSentinels } from '../support/redis-sentinels.ts'
import { makeKeys, type Processes, startProcesses } from '../support/service.ts'
import { checkRun, runsOf, stampFiles } from './stamp.ts'

/*
 * Redis fails over between the submission of held calls, their decisions and their runs. The tool isn't idempotent: its runs are
 * counted.
 */

t.setTimeout(300_000)
// They wait, and each has a Redis of its own.
t.jobs = 3

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' } })
const seat = { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] }
const choosing = `if [ -z "$TOOLYARD_ANSWER" ]; then echo '${JSON.stringify({ $ask: { text: 'Which?', schema: seat } })}'; else cat "$TOOLYARD_ANSWER"; fi`
const schema = { type: 'object', properties: { mark: { type: 'string' }, sec: { type: 'string' } }, required: ['mark'] }

interface Place { redis: RedisSentinels, service: Processes }

async function start (t: Test): Promise<Place> {
  const redis = await startRedisSentinels(t)
  const service = await startProcesses(t, redis.env, {
    files: stampFiles,
    tools: [
      { name: 'stamp', schema, command: ['./tools/bin/stamp'], timeoutSec: 60, approval: 'required' },
      { name: 'choose', schema: { type: 'object' }, command: ['/bin/sh', '-c', choosing], asks: true }
    ],
    workers: 0,
    env: {
      REDIS_WAIT_REPLICAS: '1',
      WORKER_CONCURRENCY: '10',
      API_KEYS_JSON
    }
  })
  return { redis, service }
}

/** Undefined: nobody knows whether it is held. */
async function hold ({ client }: Processes, mark: string, sec = '0'): Promise<string | undefined> {
  const calls = [{ call_id: 'c', name: 'stamp', arguments: { mark, sec } }]
  const answer = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: { calls } }).catch(() => undefined)
  return answer?.status === 200 && answer.body.results[0]?.error?.code === 'HELD' ? answer.body.results[0].job_id : undefined
}

async function show ({ client }: Processes, id: string): Promise<ApprovalDetail> {
  return await waitFor(`${id} is shown`, async () => {
    const answer = await client.request<{ approval: ApprovalDetail }>(`/v1/approvals/${id}`).catch(() => undefined)
    if (answer?.status === 404) throw new Error(`${id} is lost`)
    return answer?.status === 200 && answer.body.approval
  }, 60_000)
}

/** Whether it was acknowledged; undefined where nobody knows. */
async function decide ({ client }: Processes, id: string, decision: 'approve' | 'deny', digest: string): Promise<number | undefined> {
  const answer = await client.request(`/v1/approvals/${id}`, { body: { decision, digest }, key: keys.approver }).catch(() => undefined)
  return answer?.status === 503 ? undefined : answer?.status
}

/** Decides until it is told what became of it. */
async function decideForGood (service: Processes, id: string, decision: 'approve' | 'deny', digest: string): Promise<number> {
  return await waitFor(`${id} is decided`, async () => await decide(service, id, decision, digest) ?? false, 60_000)
}

async function promote ({ master, replica }: RedisSentinels): Promise<void> {
  await master.kill()
  await waitFor('the replica is the master', async () => /role:master/.test(await replica.client.info('replication')), 60_000)
  // It has no replica, and nothing is acknowledged, until the old master follows it.
  await master.start()
}

async function endOf (service: Processes, id: string): Promise<Job> {
  return await waitFor(`${id} ends`, async () => await reach(service.client, id, 'succeeded', 'failed').catch(() => undefined), 90_000)
}

/** It has run once, or not at all, and its state says which. */
async function checkCall (t: Test, service: Processes, id: string, mark: string): Promise<void> {
  checkRun(t, service, await endOf(service, id), mark)
}

void t.test('promise 12 failover: what is held, approved, denied and run when the master dies stays so: each approved call runs once', { buffered: true }, async t => {
  const { redis, service } = await start(t)
  const marks = (stage: string, count = 4): string[] => Array.from({ length: count }, (_, at) => `${stage}${at}`)
  const calls = async (stage: string, sec?: string): Promise<Array<{ mark: string, id: string, digest: string }>> => (
    await Promise.all(marks(stage).map(async mark => {
      const id = await hold(service, mark, sec) ?? ''
      return { mark, id, digest: (await show(service, id)).approval.digest }
    }))
  )
  const [held, approved, denied, running] = [await calls('held'), await calls('approved'), await calls('denied'), await calls('running', '3')]
  for (const { id, digest } of running) t.equal(await decide(service, id, 'approve', digest), 200)
  await service.startWorker({ WORKER_CONCURRENCY: '4' })
  await waitFor('they run', () => runsOf(service).size === running.length)
  for (const { id, digest } of approved) t.equal(await decide(service, id, 'approve', digest), 200)
  for (const { id, digest } of denied) t.equal(await decide(service, id, 'deny', digest), 200)
  await promote(redis)
  await service.startWorker()
  for (const { mark, id } of [...running, ...approved]) await checkCall(t, service, id, mark)
  for (const { mark, id } of denied) {
    t.match(await endOf(service, id), { status: 'failed', error: { code: 'APPROVAL_DENIED' } }, mark)
    t.equal(runsOf(service).get(mark), undefined, mark)
  }
  for (const { mark, id, digest } of held) {
    t.match((await show(service, id)).approval, { state: 'held', digest }, mark)
    t.equal(await decideForGood(service, id, 'approve', digest), 200, mark)
    await checkCall(t, service, id, mark)
  }
})

void t.test('promise 12 failover: submissions and decisions on their way when the master dies count as they were answered, or may be said again', { buffered: true }, async t => {
  const { redis, service } = await start(t)
  await service.startWorker()
  const shown: Array<{ mark: string, id: string, digest: string, decision: 'approve' | 'deny', told?: number | undefined }> = []
  for (let at = 0; at < 60; at++) {
    const id = await hold(service, `d${at}`) ?? ''
    shown.push({ mark: `d${at}`, id, digest: (await show(service, id)).approval.digest, decision: at % 3 === 0 ? 'deny' : 'approve' })
  }
  const kept: Array<{ mark: string, id: string }> = []
  const sending = new AbortController()
  const submitting = (async () => {
    for (let at = 0; !sending.signal.aborted && at < 2_000; at++) {
      const id = await hold(service, `s${at}`)
      if (id !== undefined) kept.push({ mark: `s${at}`, id })
    }
  })()
  const deciding = (async () => {
    for (const [at, call] of shown.entries()) {
      if (at === 20) setImmediate(() => { void redis.master.kill() })
      call.told = await decide(service, call.id, call.decision, call.digest)
    }
  })()
  await waitFor('the replica is the master', async () => /role:master/.test(await redis.replica.client.info('replication')), 60_000)
  await redis.master.start()
  await deciding
  sending.abort()
  await submitting
  t.ok(shown.some(({ told }) => told === undefined) && shown.some(({ told }) => told === 200), 'some were answered, and some were not')
  for (const { mark, id, digest, decision, told } of shown) {
    const about = `${mark}: ${decision}, ${told ?? 'unknown'}`
    const { approval: { state } } = await show(service, id)
    if (told === 200) t.equal(state, decision === 'approve' ? 'approved' : 'denied', about)
    // Nobody was told: it may have been lost, and then another word counts.
    const last = state === 'held' ? (decision === 'approve' ? 'deny' : 'approve') : decision
    t.equal(await decideForGood(service, id, last, digest), 200, about)
    if (last === 'approve') await checkCall(t, service, id, mark)
    else {
      t.match(await endOf(service, id), { error: { code: 'APPROVAL_DENIED' } }, about)
      t.equal(runsOf(service).get(mark), undefined, about)
    }
  }
  for (const { mark, id } of kept) {
    t.equal((await show(service, id)).approval.state, 'held', mark)
    t.equal((await read(service.client, id)).status, 'held', mark)
    t.equal(runsOf(service).get(mark), undefined, mark)
  }
})

void t.test('promise 12 failover: a call whose decision the replica does not know has not run when that is the master', { buffered: true }, async t => {
  const { redis, service } = await start(t)
  const id = await hold(service, 'unknown') ?? ''
  const { approval: { digest } } = await show(service, id)
  await service.startWorker()
  redis.replica.signal('SIGSTOP')
  t.equal(await decide(service, id, 'approve', digest), undefined, 'nobody is told that it counts')
  const killed = redis.master.kill()
  redis.replica.signal('SIGCONT')
  await killed
  await waitFor('the replica is the master', async () => /role:master/.test(await redis.replica.client.info('replication')), 60_000)
  await redis.master.start()
  const { approval: { state } } = await show(service, id)
  if (state === 'held') {
    t.equal(await decideForGood(service, id, 'deny', digest), 200)
    t.match(await endOf(service, id), { error: { code: 'APPROVAL_DENIED' } })
    t.equal(runsOf(service).get('unknown'), undefined)
  } else {
    // The master's last message was there when the replica went on.
    await checkCall(t, service, id, 'unknown')
  }
})

void t.test('an answer to a question that the replica does not know is told to nobody, and may be given again', { buffered: true }, async t => {
  const { redis, service } = await start(t)
  await service.startWorker()
  const { id } = await submit(service.client, { type: 'agentcli.choose' })
  await reach(service.client, id, 'input_required')
  const answer = async (): Promise<number | undefined> => (await service.client.request(`/v1/jobs/${id}/answer`, { body: { answer: { seat: 'aisle' }, number: 1 } })).status
  redis.replica.signal('SIGSTOP')
  t.equal(await answer(), 503)
  redis.replica.signal('SIGCONT')
  t.equal(await waitFor('it is answered', async () => { const status = await answer(); return status !== 503 && status }), 200)
  t.match(await endOf(service, id), { status: 'succeeded', result: { seat: 'aisle' } })
})
