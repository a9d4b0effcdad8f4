import { JobCanceller, JobQueues, QueueDirectory, createUnservedJobs, type NewJob } from '@toolyard/queue'
import { newJobId } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const job = (type: string): NewJob => ({ id: newJobId(), type, data: { tool: type, arguments: {}, timeoutSec: 60, tags: [], keyName: 'k' } })

t.test('a lost job that may not run again ends, also where its lock runs out while another one is put back', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const directory = new QueueDirectory(redis, 1)
  const queues = new JobQueues(redis, directory, { ageSec: 60, count: 1_000 })
  t.teardown(() => queues.close())
  const [again, once] = [job('again'), job('once')]
  t.same(await queues.add('q', [again, once]), new Map())
  const { backend } = queues.open('q')
  for (const { id } of [again, once]) {
    t.equal((await backend.moveToActive('token'))[1], id)
    t.equal(await backend.runs.begin({ id, attemptsStarted: 1, attemptsMade: 0 }, 'token'), true)
  }
  const lock = ({ id }: NewJob): string => `toolyard:{q}:${id}:lock`
  await redis.del(lock(again))
  let looks = 0
  const unserved = createUnservedJobs({
    redis,
    directory,
    queues,
    canceller: new JobCanceller(redis, queues),
    mayRepeat (type) {
      // The first look marks both jobs. In the second one, this comes behind the look at locks and before the job is put back.
      if (type === 'again' && ++looks === 2) void redis.del(lock(once))
      return type === 'again'
    },
    onError: error => { t.error(error) }
  })
  unserved.start()
  t.teardown(() => { unserved.stop() })
  await waitFor('the one is put back', async () => (await redis.lrange('toolyard:{q}:wait', 0, -1)).includes(again.id))
  await waitFor('the other has ended', async () => await redis.zscore('toolyard:{q}:failed', once.id) !== null)
  t.match(await redis.hget(`toolyard:{q}:${once.id}`, 'failedReason'), /not run again/)
})
