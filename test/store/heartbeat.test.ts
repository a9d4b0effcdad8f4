import { setImmediate as turn } from 'node:timers/promises'
import { listGoneWorkers, listWorkers, WorkerHeartbeat } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const server = await startTestRedis(t)
const redis = await connectTo(t, server)

t.test('a worker that stops while it makes its next report has left, and is not lost', async t => {
  const record = { id: 'w', queues: ['*'], sandbox: { level: 'full' as const, missing: [] }, tools: '' }
  let goOn: (() => void) | undefined
  let isFirst = true
  const heartbeat = new WorkerHeartbeat(redis, 'w', async () => {
    if (!isFirst) await new Promise<void>(resolve => { goOn = resolve })
    isFirst = false
    return record
  }, error => { t.error(error) })
  await heartbeat.start()
  t.match(await listWorkers(redis, 10), { count: 1, workers: [{ id: 'w' }] })
  await waitFor('the next report is being made', () => goOn !== undefined)
  const stopped = heartbeat.stop()
  await redis.ping()
  await turn()
  goOn?.()
  await stopped
  await redis.ping()
  t.equal(await redis.zcard('toolyard:{workers}:seen'), 0)
  t.match(await listGoneWorkers(redis), [{ id: 'w', how: 'left' }])
})
