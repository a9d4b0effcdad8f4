import { JobQueues, QueueDirectory, WorkerPool, type NewJob } from '@toolyard/queue'
import { newJobId, type Redis } from '@toolyard/store'
import { Worker } from 'bullmq'
import t from 'tap'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import { startTestRedis } from '../support/redis.ts'

const retention = { ageSec: 60, count: 1_000 }

interface Fixture {
  redis: Redis
  queues: JobQueues
  /** The socket of Redis. */
  socket: string
  /** Another connection. */
  connect: () => Promise<Redis>
}

async function open (t: Test): Promise<Fixture> {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const queues = new JobQueues(redis, new QueueDirectory(redis, 1), retention)
  t.teardown(() => queues.close())
  return { redis, queues, socket: server.socket, connect: () => connectTo(t, server) }
}

function job (replyTo?: string): NewJob {
  return { id: newJobId(), type: 'x', data: { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', ...(replyTo === undefined ? {} : { replyTo }) } }
}

/** Takes the next job, as a worker whose token is `token`. */
async function take (t: Test, queues: JobQueues, redis: Redis): ReturnType<ReturnType<JobQueues['open']>['getJob']> {
  const worker = new Worker('{q}', null, { connection: redis, prefix: 'toolyard', autorun: false, lockDuration: 60_000, skipVersionCheck: true })
  t.teardown(() => worker.close())
  const taken = await worker.getNextJob('token', { block: false }) as { id?: string } | undefined
  return await queues.open('q').getJob(taken?.id ?? '')
}

/** The messages for the API process `me`, as they come. */
async function hear (connect: Fixture['connect']): Promise<string[]> {
  const heard: string[] = []
  const subscriber = await connect()
  await subscriber.subscribe('toolyard:reply:me')
  subscriber.on('message', (_channel: string, message: string) => { heard.push(message) })
  return heard
}

/** The commands that settle jobs, as they come. */
async function hearSettling (t: Test, socket: string): Promise<string[][]> {
  const heard: string[][] = []
  await monitorRedis(t, socket, words => {
    if (words[0]?.startsWith('eval') === true && words.includes('toolyard:{q}:completed')) heard.push(words)
  })
  return heard
}

t.test('jobs that end in one turn of the event loop are settled with one command', async t => {
  const { redis, queues, socket, connect } = await open(t)
  const held: Array<() => void> = []
  const handle = async (): Promise<{ kind: 'succeeded', json: string, value: number }> => {
    await new Promise<void>(resolve => held.push(resolve))
    return { kind: 'succeeded', json: '1', value: 1 }
  }
  const pool = new WorkerPool({ redis: await connect(), subscriber: await connect(), retention, queues: ['q'], concurrency: 4, handle, onError: error => { t.error(error) } })
  await pool.start()
  t.teardown(() => pool.stop(0))
  await queues.add('q', Array.from({ length: 8 }, () => job()))
  await waitFor('all places are taken', () => held.length === 4)
  await queues.open('q').pause()
  const heard = await hearSettling(t, socket)
  for (const end of held.splice(0)) end()
  await waitFor('four have ended', async () => await redis.zcard('toolyard:{q}:completed') === 4)
  await waitFor('it was heard', () => heard.length > 0)
  t.equal(heard.length, 1)
})

t.test('a single job wakes one worker once, however many wait', async t => {
  const { redis, queues, socket, connect } = await open(t)
  const handle = async (): Promise<{ kind: 'succeeded', json: string, value: number }> => ({ kind: 'succeeded', json: '1', value: 1 })
  const heard: string[][] = []
  for (let workers = 0; workers < 3; workers++) {
    const pool = new WorkerPool({ redis: await connect(), subscriber: await connect(), retention, queues: ['q'], concurrency: 4, handle, onError: error => { t.error(error) } })
    await pool.start()
    t.teardown(() => pool.stop(0))
  }
  const areWaiting = async (): Promise<boolean> => /blocked_clients:3/.test(await redis.info('clients'))
  await waitFor('all wait for the first job', areWaiting)
  await monitorRedis(t, socket, words => { heard.push(words) })
  for (const count of [1, 2]) {
    await queues.add('q', [job()])
    await waitFor('the job has ended', async () => await redis.zcard('toolyard:{q}:completed') === count)
    await waitFor('all wait again', areWaiting)
  }
  await redis.echo('over')
  await waitFor('all of that was heard', () => heard.some(words => words[0] === 'echo'))
  // The look for jobs that nobody takes wakes one worker more where it comes between a wake and the take.
  const looks = heard.filter(words => words[1]?.includes('isDue')).length
  const wakes = heard.filter(words => words[0] === 'bzpopmin').length
  t.ok(wakes >= 2 && wakes <= 2 + looks, `${wakes} wakes, ${looks} looks`)
})

t.test('a job that Redis refuses doesn\'t affect the other jobs', async t => {
  const { redis, queues } = await open(t)
  const [step, later, plain] = [{ ...job(), parent: { queue: 'q', id: newJobId(), field: 'step' } }, { ...job(), delayMs: 60_000 }, job()]
  const errors = await queues.add('q', [step, later, plain])
  t.same([...errors.keys()], [step.id])
  t.match(errors.get(step.id), { message: /^Missing key for parent job/ })
  t.same([await redis.zcard('toolyard:{q}:prioritized'), await redis.zcard('toolyard:{q}:delayed')], [1, 1])
})

t.test('a job that waits for another one is accepted though Redis is full just after it was added', async t => {
  const { redis, queues } = await open(t)
  const first = job()
  await queues.add('q', [first])
  const second = job()
  const run = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>
  Object.assign(redis, {
    eval: async (...args: unknown[]) => {
      await redis.call('CONFIG', 'SET', 'maxmemory', '1mb')
      return await run(...args)
    }
  })
  t.same(await queues.add('q', [{ ...second, data: { ...second.data, dependsOn: [{ id: first.id, queue: 'q' }] } }]), new Map())
  t.equal(await redis.exists(`toolyard:{q}:${second.id}`), 1)
})

t.test('jobs that end together are announced with one message, a line for each', async t => {
  const { redis, queues, connect } = await open(t)
  const heard = await hear(connect)
  await queues.add('q', [job('me'), job('me'), job('me')])
  const [first, second, third] = [await take(t, queues, redis), await take(t, queues, redis), await take(t, queues, redis)]
  await Promise.all([first?.moveToCompleted({ inline: '"a"' } as never, 'token', false), second?.moveToCompleted({ inline: '"b"' } as never, 'token', false)])
  await third?.moveToFailed(new Error('two\nlines'), 'token', false)
  await waitFor('all were told', () => heard.length > 1)
  t.same(heard, [`${first?.id ?? ''}+{"inline":"\\"a\\""}\n${second?.id ?? ''}+{"inline":"\\"b\\""}`, `${third?.id ?? ''}-two lines`])
})

t.test('a settlement that is sent again after a broken connection is announced again and changes nothing', async t => {
  const { redis, queues, connect } = await open(t)
  const heard = await hear(connect)
  await queues.add('q', [job('me')])
  const made = await take(t, queues, redis)
  await made?.moveToCompleted({ inline: '1' } as never, 'token', false)
  await t.rejects(made?.moveToCompleted({ inline: '2' } as never, 'token', false) ?? Promise.resolve(), /Missing lock/)
  await waitFor('both were told', () => heard.length === 2)
  t.equal(heard[1], heard[0])
})

t.test('a worker that lost a job does not announce its end', async t => {
  const { redis, queues } = await open(t)
  await queues.add('q', [job('me')])
  const made = await take(t, queues, redis)
  await redis.set(`toolyard:{q}:${made?.id ?? ''}:lock`, 'another')
  await t.rejects(made?.moveToCompleted({ inline: '1' } as never, 'token', false) ?? Promise.resolve(), /Lock mismatch/)
  t.equal(await made?.getState(), 'active')
})

t.test('an identical settlement that is sent again succeeds', async t => {
  const { redis, queues, connect } = await open(t)
  const heard = await hear(connect)
  await queues.add('q', [job('me')])
  const made = await take(t, queues, redis)
  for (let sent = 0; sent < 2; sent++) await made?.moveToCompleted({ inline: '1' } as never, 'token', false)
  await waitFor('both were told', () => heard.length === 2)
  t.equal(heard[1], heard[0])
  t.same(await redis.hmget(`toolyard:{q}:${made?.id ?? ''}`, 'atm', 'returnvalue'), ['1', '{"inline":"1"}'])
})

t.test('of jobs that end together, one that threw no error, or has a damaged record, affects no other', async t => {
  const { redis, queues } = await open(t)
  await queues.add('q', [job(), job(), job(), job()])
  const [sound, thrown, damaged] = [await take(t, queues, redis), await take(t, queues, redis), await take(t, queues, redis)]
  await redis.hset(`toolyard:{q}:${damaged?.id ?? ''}`, 'atm', 'many')
  const [next] = await redis.zrange('toolyard:{q}:prioritized', '0', '-1')
  await redis.set(`toolyard:{q}:${next ?? ''}`, 'no hash')
  const [first, second, third] = await Promise.allSettled([
    sound?.moveToCompleted({ inline: '1' } as never, 'token', true), thrown?.moveToFailed('text' as never, 'token', false), damaged?.moveToCompleted({ inline: '3' } as never, 'token', false)
  ])
  t.match([first, second, third], [{ status: 'fulfilled' }, { status: 'fulfilled' }, { status: 'rejected', reason: /hash value is not an integer/ }])
  t.same([await sound?.getState(), await thrown?.getState()], ['completed', 'failed'])
})
