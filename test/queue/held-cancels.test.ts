import { Approvals, heldJob, JobCanceller, JobQueues, JobReader, OutputStore, QueueDirectory, type TakenJob } from '@toolyard/queue'
import { jobKey, newJobId, queueKey, type Redis } from '@toolyard/store'
import type { Command } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

/*
 * A held call is cancelled while whoever submits it, decides about it, answers its question or runs it stands still before each
 * of its commands, and then goes on. The tool asks once, and then does its work.
 */

const retention = { ageSec: 60, count: 10_000 }
const server = await startTestRedis(t)
const runs = new Map<string, number>()
/** Where the workers stand still. */
let workers: Still | undefined
const { redis, directory, queues } = await startPool(t, server, {
  concurrency: 4,
  maxQueues: 1_000,
  // A worker is told so whose job was cancelled while it stood still: the canceller has the lock, or it is gone.
  onError: error => { if (!/Missing lock|Lock mismatch|could not renew lock/.test(error.message)) t.error(error) },
  handle: async ({ id, answers = [] }: TakenJob) => {
    if (answers.length === 0) return { kind: 'asks', ask: { name: 'answer', text: 'Which?', schema: { type: 'object' } } }
    runs.set(id, (runs.get(id) ?? 0) + 1)
    return { kind: 'succeeded', json: '1', value: 1 }
  }
})
const jobs = new JobReader({ redis, directory, queues, outputs: new OutputStore(redis, retention) })

interface Still {
  about: string
  /** The n-th is held up. */
  at: number
  stop: () => Promise<void>
}

/** Has a connection stand still where it is told to; others of its commands go on. */
function mayStandStill (connection: Redis, where: () => Still | undefined): void {
  const send: Redis['sendCommand'] = connection.sendCommand.bind(connection)
  connection.sendCommand = (command: Command) => {
    const still = where()
    if (still?.about === undefined || !JSON.stringify(command.args).includes(still.about) || --still.at !== 0) return send(command)
    void still.stop().then(() => send(command))
    return command.promise
  }
}

interface Person { approvals: Approvals, canceller: JobCanceller, queues: JobQueues }

function personOn (connection: Redis): Person {
  const own = new JobQueues(connection, new QueueDirectory(connection, 1_000), retention)
  t.teardown(() => own.close())
  const canceller = new JobCanceller(connection, own)
  return { approvals: new Approvals({ redis: connection, queues: own, jobs, canceller }), canceller, queues: own }
}

/** Whose commands are held up, and who cancels. */
const slow = await connectTo(t, server)
let held: Still | undefined
mayStandStill(slow, () => held)
mayStandStill(redis, () => workers)
const [other, person, canceller] = [personOn(await connectTo(t, server)), personOn(slow), personOn(await connectTo(t, server)).canceller]

async function submit (queue: string, id: string, by: Person): Promise<void> {
  const data = { tool: 'x', arguments: {}, timeoutSec: 5, tags: [], keyName: 'k', tenant: 'acme' }
  await by.queues.add(queue, [heldJob({ id, type: 'x', data }, { approvers: 1, self: false, expiresSec: 60 }, { entry: 'e', program: null, key: '' })])
}

async function decide (queue: string, id: string, decision: 'approve' | 'deny', by: Person): Promise<void> {
  const call = await jobs.held(queue, id)
  if (call === undefined) throw new Error('there is no call')
  await by.approvals.decide(call, { key: 'boss', decision, digest: call.approval.digest }, async () => true)
}

async function answer (queue: string, id: string, by: Person): Promise<void> {
  await by.approvals.answer({ queue, id, tenant: 'acme' }, { answer: '{}', number: 1, isChecked: true })
}

async function statusOf (queue: string, id: string): Promise<string | undefined> {
  return (await jobs.held(queue, id))?.status
}

const reaches = async (queue: string, id: string, status: string): Promise<unknown> => (
  await waitFor(`${queue} is ${status}`, async () => await statusOf(queue, id) === status)
)

interface Step {
  before: (queue: string, id: string) => Promise<void>
  /** Stands still, as a person or a worker. */
  act: (queue: string, id: string) => Promise<void>
  isWorkers?: true
}

const submitted = async (queue: string, id: string): Promise<void> => { await submit(queue, id, other) }
const asked = async (queue: string, id: string): Promise<void> => {
  await submitted(queue, id)
  await decide(queue, id, 'approve', other)
  await reaches(queue, id, 'input_required')
}
const steps: Record<string, Step> = {
  submission: { before: async () => {}, act: async (queue, id) => { await submit(queue, id, person) } },
  approval: { before: submitted, act: async (queue, id) => { await decide(queue, id, 'approve', person) } },
  denial: { before: submitted, act: async (queue, id) => { await decide(queue, id, 'deny', person) } },
  answer: { before: asked, act: async (queue, id) => { await answer(queue, id, person) } },
  question: { before: submitted, act: async (queue, id) => { await decide(queue, id, 'approve', other) }, isWorkers: true },
  run: { before: asked, act: async (queue, id) => { await answer(queue, id, other) }, isWorkers: true }
}

/** Answers whether there was such a command. */
async function cancelledAt (t: Test, name: string, at: number): Promise<boolean> {
  const { before, act, isWorkers } = steps[name] ?? { before: submitted, act: submitted }
  const [queue, id] = [`${name}-${at}`, newJobId()]
  await before(queue, id)
  let [stopped, letGo] = [(): void => {}, (): void => {}]
  const stands = new Promise<void>(resolve => { stopped = resolve })
  const goes = new Promise<void>(resolve => { letGo = resolve })
  const still: Still = { about: `{${queue}}`, at, stop: async () => { stopped(); await goes } }
  if (isWorkers === true) workers = still
  else held = still
  const done = act(queue, id).catch(() => {})
  const ended = done.then(async () => {
    if (isWorkers === true) await waitFor(`${queue} is over`, async () => ['succeeded', 'input_required'].includes(await statusOf(queue, id) ?? ''))
  })
  const isStopped = await Promise.race([stands.then(() => true), ended.then(() => false)])
  const result = await canceller.cancel(queue, id)
  letGo()
  await done
  const about = `${name}, before command ${at}: ${result}`
  if (result === 'missing') {
    t.equal(await statusOf(queue, id), 'held', about)
    await canceller.cancel(queue, id)
  }
  const status = await waitFor(`${about}: it has ended`, async () => {
    const now = await statusOf(queue, id)
    return ['cancelled', 'succeeded', 'failed'].includes(now ?? '') && now
  })
  t.equal(status === 'cancelled', result !== 'finished', `${about}: ${status}`)
  await waitFor(`${about}: nothing is left of its wait`, async () => await redis.zcard(queueKey(queue, 'held')) + await redis.zcard(queueKey(queue, 'delayed')) === 0)
  t.equal(await redis.hexists(jobKey(queue, id), 'finishedOn'), 1, about)
  const ran = runs.get(id) ?? 0
  t.ok(status === 'succeeded' ? ran === 1 : ran <= 1, `${about}: it ran ${ran} times`)
  ended.catch(() => {})
  return isStopped
}

for (const name of Object.keys(steps)) {
  t.test(`promise 12 a call that is cancelled at any command of its ${name} is cancelled, or had ended, and runs no more than once`, { timeout: 120_000 }, async t => {
    let at = 1
    while (await cancelledAt(t, name, at)) at++
    t.ok(at > 3, `${at} commands`)
  })
}
