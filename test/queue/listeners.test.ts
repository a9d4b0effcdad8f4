import { FinishedJobs, JobCanceller, JobLogs, JobQueues, OutputStore, QueueDirectory } from '@toolyard/queue'
import { SessionLeases, Sessions } from '@toolyard/store'
import { openQueueBoard } from '@toolyard/queue/dashboard'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { warningsOf } from '../support/warnings.ts'

/* Node.js takes the eleventh listener of an emitter or a signal for a leak. */

void t.test('any number of calls that are in one session at a time may listen for its removal', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const session = await new Sessions(redis).make({ tenant: undefined, keyName: 'k', ttlSec: 60, quotaBytes: 1, from: undefined })
  if (session === 'full' || 'bytesLeft' in session) return t.fail('there is no session')
  const leases = new SessionLeases(redis)
  const warnings = await warningsOf(async () => {
    for (let call = 0; call < 12; call++) {
      const stay = await leases.enter(session.id, undefined)
      stay?.signal.addEventListener('abort', () => {})
    }
  })
  t.same(warnings, [])
})

void t.test('a flow that is looked at again and again leaves no listener behind', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const retention = { ageSec: 60, count: 10 }
  const directory = new QueueDirectory(redis, 10)
  const queues = new JobQueues(redis, directory, retention)
  t.teardown(async () => { await queues.close() })
  const canceller = new JobCanceller(redis, queues)
  const board = await openQueueBoard({
    redis,
    directory,
    queues,
    outputs: new OutputStore(redis, retention),
    logs: new JobLogs(redis),
    finished: new FinishedJobs({ redis, queues, canceller, retention })
  }, { title: 'Toolyard', links: [] })
  const id = queues.newId()
  await queues.add('q', [{ id, type: 't', data: { tool: 't', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' } }])
  const viewer = { keyName: 'k', mayRun: () => true, queueAllowlist: undefined, readOnly: false, redact: (texts: readonly string[]) => [...texts] }
  const warnings = await warningsOf(async () => {
    for (let look = 0; look < 12; look++) {
      const { status } = await board.answer({ method: 'GET', path: `/queues/q/${id}/flow`, query: {}, body: undefined }, viewer)
      t.equal(status, 200)
    }
  })
  t.same(warnings, [])
})
