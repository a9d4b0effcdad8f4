import { Approvals, countQueues, FinishedJobs, heldJob, JobCanceller, JobLister, JobQueues, JobReader, OutputStore, QueueDirectory, type TakenJob, type HandlerResult } from '@toolyard/queue'
import { cancelChannel, jobKey, newJobId, queueKey, RedisUnavailableError, Replicas, type Redis } from '@toolyard/store'
import type { Command } from 'ioredis'
import { readJson, writeJson } from '@toolyard/contract/terms'
import fc from 'fast-check'
import t from 'tap'
import { anyCharacter } from '../support/any-character.ts'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

const retention = { ageSec: 60, count: 1_000 }
const server = await startTestRedis(t)
/** The next run of a job; else it succeeds. */
const next = new Map<string, (job: TakenJob) => Promise<HandlerResult>>()
const runs = new Map<string, number>()
const { redis, directory, queues } = await startPool(t, server, {
  concurrency: 4,
  handle: async job => {
    const act = next.get(job.id)
    next.delete(job.id)
    if (act !== undefined) return await act(job)
    runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
    return { kind: 'succeeded', json: '1', value: 1 }
  }
})
const outputs = new OutputStore(redis, retention)
const jobs = new JobReader({ redis, directory, queues, outputs })

function processOn (connection: Redis): { approvals: Approvals, finished: FinishedJobs } {
  const own = new JobQueues(connection, new QueueDirectory(connection, 100), retention)
  t.teardown(() => own.close())
  const canceller = new JobCanceller(connection, own)
  return {
    approvals: new Approvals({ redis: connection, queues: own, jobs, canceller }),
    finished: new FinishedJobs({ redis: connection, queues: own, canceller, retention })
  }
}

const { approvals, finished } = processOn(redis)

async function add (queue: string, tenant?: string, id = newJobId(), once = false, to = queues): Promise<string> {
  const data = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', ...(tenant === undefined ? {} : { tenant }) }
  const job = heldJob({ id, type: 'x', data }, { approvers: 1, self: false, expiresSec: 60 }, { entry: 'e', program: null, key: '' })
  await to.add(queue, [job], once)
  return id
}

async function decide (queue: string, id: string, decision: 'approve' | 'deny', by = approvals): Promise<string> {
  const call = await jobs.held(queue, id)
  if (call === undefined) throw new Error(`${id} is not held`)
  const { result } = await by.decide({ ...call, queue, id }, { key: 'boss', decision, digest: call.approval.digest }, async () => true)
  return result
}

const stateOf = async (queue: string, id: string): Promise<string | undefined> => (await jobs.held(queue, id))?.approval.state
const hasEnded = async (queue: string, id: string): Promise<boolean> => await redis.hexists(jobKey(queue, id), 'finishedOn') === 1

/** Has a connection stand still before a command until it is let go. */
function standStill (connection: Redis, at: (text: string) => boolean): { stopped: Promise<void>, letGo: () => void } {
  let letGo = (): void => {}
  const going = new Promise<void>(resolve => { letGo = resolve })
  const send: Redis['sendCommand'] = connection.sendCommand.bind(connection)
  const stopped = new Promise<void>(resolve => {
    let isOver = false
    connection.sendCommand = (command: Command) => {
      if (isOver || !at(JSON.stringify(command.args))) return send(command)
      isOver = true
      resolve()
      void going.then(() => send(command))
      return command.promise
    }
  })
  return { stopped, letGo }
}

t.test('a worker whose job is another one\'s by now holds it no second time', async t => {
  const id = await add('lost')
  const changed = { kind: 'held', held: { digest: 'f'.repeat(64), changed: 'it', program: null } } as const
  next.set(id, async () => {
    await redis.set(`${jobKey('lost', id)}:lock`, 'of another worker', 'PX', 60_000)
    return changed
  })
  t.equal(await decide('lost', id, 'approve'), 'approved')
  await waitFor('the worker is done', async () => !next.has(id) && await redis.zcard(queueKey('lost', 'held')) === 0)
  await decide('lost', id, 'approve')
  t.equal(await stateOf('lost', id), 'approved')
})

t.test('a process that stands still before it ends a denied job does not end the job that was run again and approved since', async t => {
  const id = await add('late')
  const connection = await connectTo(t, server)
  const { stopped, letGo } = standStill(connection, text => text.includes(':lock') && text.includes('waiting-children'))
  const late = decide('late', id, 'deny', processOn(connection).approvals)
  await stopped
  await waitFor('a worker ends it', async () => await hasEnded('late', id))
  t.equal(await finished.rerun('late', id, { keyName: 'admin', mayRun: () => true }), 'queued')
  let end = (): void => {}
  const running = new Promise<void>(resolve => {
    next.set(id, async () => {
      resolve()
      await new Promise<void>(resolve => { end = resolve })
      return { kind: 'succeeded', json: '1', value: 1 }
    })
  })
  await waitFor('it is held again', async () => await redis.zscore(queueKey('late', 'delayed'), id) !== null)
  t.equal(await decide('late', id, 'approve'), 'approved')
  await running
  letGo()
  await late
  end()
  await waitFor('it ends', async () => await hasEnded('late', id))
  t.equal(await redis.hget(jobKey('late', id), 'returnvalue') !== null, true)
})

t.test('a job that was denied ends as denied, though the process that ends it dies half way', async t => {
  const id = await add('half')
  const connection = await connectTo(t, server)
  let isTaken = false
  const { stopped } = standStill(connection, text => {
    const wasTaken = isTaken
    isTaken ||= text.includes('waiting-children') && text.includes(':stalled')
    return wasTaken
  })
  decide('half', id, 'deny', processOn(connection).approvals).catch(() => {})
  await stopped
  await waitFor('it ends', async () => await hasEnded('half', id))
  t.match(await redis.hget(jobKey('half', id), 'failedReason'), /APPROVAL_DENIED/)
})

t.test('a job that was approved while its dying worker parked it runs soon', async t => {
  const id = await add('parking')
  const { stopped, letGo } = standStill(redis, text => text.includes('parking') && text.includes('expiresAt') && text.includes('ZADD') && !text.includes('heldAt'))
  next.set(id, async () => ({ kind: 'held', held: { digest: 'a'.repeat(64), changed: 'it', program: null } }))
  t.equal(await decide('parking', id, 'approve'), 'approved')
  // From here on the worker does nothing.
  await stopped
  t.equal(await decide('parking', id, 'approve'), 'approved')
  const delayed = await redis.zscore(queueKey('parking', 'delayed'), id)
  t.ok(delayed === null || Number(delayed) / 4096 < Date.now() + 10_000, `due ${String(delayed)}`)
  await waitFor('it runs', () => runs.get(id) === 1)
  letGo()
})

t.test('a decision that replicas do not know in time counts where it was noted, and wakes workers by itself', async t => {
  // Nobody takes a job there.
  const idle = await connectTo(t, await startTestRedis(t))
  const replicas = new Replicas(idle, 1)
  t.teardown(() => { replicas.stop() })
  const own = { directory: new QueueDirectory(idle, 100), outputs: new OutputStore(idle, retention) }
  const idleQueues = new JobQueues(idle, own.directory, retention)
  t.teardown(() => idleQueues.close())
  const to = { redis: idle, queues: idleQueues }
  const parts = { ...to, jobs: new JobReader({ ...to, ...own }), canceller: new JobCanceller(idle, idleQueues) }
  for (const decision of ['approve', 'deny'] as const) {
    const id = await add(decision, undefined, newJobId(), false, idleQueues)
    const call = await parts.jobs.held(decision, id)
    if (call === undefined) return t.fail('it is not held')
    const noting = new Approvals({ ...parts, replicas }).decide({ ...call, queue: decision, id }, { key: 'boss', decision, digest: call.approval.digest }, async () => true)
    await t.rejects(noting, RedisUnavailableError)
    const due = Number(await idle.zscore(queueKey(decision, 'delayed'), id)) / 4_096
    t.equal(Math.floor(Number(await idle.zscore(queueKey(decision, 'marker'), '1'))), Math.floor(due), 'who waits for jobs hears when it is due')
    t.ok(due < Date.parse(call.approval.expires_at))
  }
})

t.test('held jobs of a tenant count once, and hide no others of the queue', async t => {
  for (let at = 0; at < 3; at++) await add('counted', 'acme')
  await queues.add('counted', [{ id: newJobId(), type: 'x', delayMs: 60_000, data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
  const counted = (await countQueues(redis, directory)).find(({ queue }) => queue === 'counted')
  t.match(counted, { delayed: 1, waiting: 0, held: 3 })
})

t.test('a repeated submission of a job that was approved since does not put it back among the held ones', async t => {
  const id = await add('repeated', 'acme', undefined, true)
  t.equal(await redis.zcard(queueKey('repeated', 'held')), 2)
  t.equal(await decide('repeated', id, 'approve'), 'approved')
  await waitFor('it has run', async () => await hasEnded('repeated', id))
  await add('repeated', 'acme', id, true)
  t.equal(await redis.zcard(queueKey('repeated', 'held')), 0)
  t.equal(runs.get(id), 1)
})

t.test('a call that is denied while somebody cancels it is cancelled, as that one is told', async t => {
  const [denier, connection] = await Promise.all([connectTo(t, server), connectTo(t, server)])
  const own = new JobQueues(connection, new QueueDirectory(connection, 100), retention)
  t.teardown(() => own.close())
  const id = await add('twice')
  const denial = standStill(denier, text => text.includes(cancelChannel))
  const denying = decide('twice', id, 'deny', processOn(denier).approvals)
  await denial.stopped
  const cancel = standStill(connection, text => text.includes(queueKey('twice', 'failed')))
  const cancelling = new JobCanceller(connection, own).cancel('twice', id)
  await cancel.stopped
  denial.letGo()
  t.equal(await denying, 'denied')
  cancel.letGo()
  t.equal(await cancelling, 'cancelled')
  t.match(await redis.hget(jobKey('twice', id), 'failedReason'), /JOB_CANCELLED/)
})

t.test('a list shows how the arguments of held calls begin, whatever is in them, and reads no more of them', async t => {
  const text = fc.oneof(fc.constantFrom(',"arguments":', ',"argumentsText":"', '"', '\\', '\\u00', '\u{1f600}'.repeat(300), 'argumentsText'), fc.string({ unit: anyCharacter }))
  const given = fc.sample(fc.dictionary(text, fc.oneof(text, fc.integer()), { maxKeys: 5 }), 60)
  const expected = new Map<string, string>()
  const addHeld = async (args: Record<string, unknown>): Promise<void> => {
    const id = newJobId()
    const data = { tool: 'x', arguments: args, timeoutSec: 1, tags: [], keyName: 'k' }
    await queues.add('listed', [heldJob({ id, type: 'x', data }, { approvers: 1, self: false, expiresSec: 60 }, { entry: 'e', program: null, key: '' })])
    expected.set(id, writeJson(args).slice(0, 500).replace(/[\ud800-\udbff]$/, ''))
  }
  for (const args of given) await addHeld(args)
  // Those that only their text keeps as they are.
  for (const args of given) await addHeld(readJson(`{"n":1.0,${JSON.stringify(args).slice(1)}`.replace(',}', '}')) as Record<string, unknown>)
  await addHeld({ pad: 'x'.repeat(900_000) })
  const { jobs: listed } = await new JobLister({ redis, directory, queues }).list({ queue: 'listed', status: 'held', limit: 200 })
  const sent = async (): Promise<number> => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1])
  const before = await sent()
  const calls = await jobs.listHeld(listed)
  t.ok(await sent() - before < 300_000)
  t.same(new Map(calls.map(({ id, preview }) => [id, preview])), expected)
  const [call] = calls
  const { arguments: _, program: __, ...whole } = await jobs.held('listed', call?.id ?? '') ?? {}
  t.same(call, { ...whole, preview: call?.preview })
})
