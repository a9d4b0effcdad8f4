import { FinishedJobs, JobCanceller, JobQueues } from '@toolyard/queue'
import { jobKey, openJobsKey, ownerOf, queueKey, type Redis } from '@toolyard/store'
import type { Command } from 'ioredis'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startPool } from '../support/pool.ts'
import { startTestRedis } from '../support/redis.ts'

type Operator = Parameters<FinishedJobs['rerun']>[2]
const retention = { ageSec: 60, count: 1_000 }
const server = await startTestRedis(t)
const runs = new Map<string, number>()
const { redis, directory, queues, add } = await startPool(t, server, {
  handle: async ({ id }) => {
    runs.set(id, (runs.get(id) ?? 0) + 1)
    return { kind: 'failed', error: { code: 'TOOL_FAILED', message: 'no' } }
  }
})

const failedAfter = async (id: string, times: number): Promise<unknown> => await waitFor(
  `it has failed ${times} times`, async () => runs.get(id) === times && await redis.zscore(queueKey('q', 'failed'), id) !== null
)
function finishedOn (connection: Redis): FinishedJobs {
  const own = new JobQueues(connection, directory, retention)
  t.teardown(() => own.close())
  return new FinishedJobs({ redis: connection, queues: own, canceller: new JobCanceller(connection, own), retention })
}

/** A process that stands still before one of its commands until it is let go. */
async function stoppingProcess (before: number): Promise<{ finished: FinishedJobs, stopped: Promise<undefined>, letGo: () => void }> {
  const connection = await connectTo(t, server)
  const finished = finishedOn(connection)
  let stop = (): void => {}
  let letGo = (): void => {}
  const stopped = new Promise<undefined>(resolve => { stop = () => { resolve(undefined) } })
  const going = new Promise<void>(resolve => { letGo = resolve })
  const send: Redis['sendCommand'] = connection.sendCommand.bind(connection)
  let sent = 0
  connection.sendCommand = (command: Command) => {
    // Commands that measure the server's time, and that look for silent servers, are sent now and then.
    if (command.name === 'ping' || JSON.stringify(command.args).includes('clock') || sent++ !== before) return send(command)
    stop()
    void going.then(() => send(command))
    return command.promise
  }
  return { finished, stopped, letGo }
}

for (const [kind, operator] of [['an operator', {}], ['a bulk change', { bulkId: 'one' }]] as const) {
  t.test(`a process that stands still before any of its commands runs no job again that ${kind} has run again meanwhile`, async t => {
    const by: Operator = { keyName: 'admin', mayRun: () => true, ...operator }
    for (let before = 0; ; before++) {
      const id = await add('q')
      await failedAfter(id, 1)
      const { finished, stopped, letGo } = await stoppingProcess(before)
      const late = finished.rerun('q', id, by)
      // It has sent all that it sends.
      if (await Promise.race([late, stopped]) !== undefined) {
        t.ok(before > 1, `it stood still before each of ${before} commands`)
        return
      }
      const inTime = await finishedOn(redis).rerun('q', id, by)
      await failedAfter(id, 2)
      letGo()
      const answers = [inTime, await late]
      await waitFor('nothing of it waits', async () => await redis.hexists(jobKey('q', id), 'finishedOn') === 1)
      // An operator who has not seen the job before that wants its second failure run again.
      t.equal(runs.get(id), before <= 1 && kind === 'an operator' ? 3 : 2, `before command ${before}: ${answers.join(', ')}`)
    }
  })
}

t.test('the log says that a job is run again before it does, and only where it is', async t => {
  const id = await add('q')
  await failedAfter(id, 1)
  const finished = finishedOn(redis)
  const by: Operator = { keyName: 'admin', mayRun: () => true, bulkId: 'two' }
  t.equal(await finished.rerun('q', id, by), 'queued')
  await failedAfter(id, 2)
  t.equal(await finished.rerun('q', id, by), 'unfailed')
  const log = JSON.stringify(await redis.xrange(`${jobKey('q', id)}:log`, '-', '+'))
  t.equal(log.split('Run again by an operator').length, 2)
  t.match(log, '{\\"key\\":\\"admin\\"}')
  t.equal(await queues.open('q').getJob(id).then(job => job?.attemptsStarted), 1)
})

t.test('a job that is run again takes one place of its queue, and counts to its owner though its entry was dropped meanwhile', async t => {
  const id = await add('q')
  await failedAfter(id, 1)
  await queues.pause('q', true)
  t.teardown(async () => { await queues.pause('q', false) })
  const own = new JobQueues(redis, directory, retention, { queueDepth: 1, perOwner: () => 10 })
  t.teardown(() => own.close())
  const finished = new FinishedJobs({ redis, queues: own, canceller: new JobCanceller(redis, own), retention })
  const open = openJobsKey(ownerOf({ tenant: undefined, keyName: 'k' }))
  const { backend } = own.open('q')
  const runAgain = backend.runAgain.bind(backend)
  backend.runAgain = async (...args) => {
    const result = await runAgain(...args)
    await redis.del(open)
    return result
  }
  t.equal(await finished.rerun('q', id, { keyName: 'admin', mayRun: () => true }), 'queued')
  const entries = await waitFor('it is entered', async () => {
    const found = await redis.zrange(open, '0', '-1')
    return found.length > 0 && found
  })
  t.same(entries, [`${id} q`])
})
