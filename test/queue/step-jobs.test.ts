import { JobCanceller, JobQueues, OutputStore, QueueDirectory, QueueFullError, StepJobs, type NewJob } from '@toolyard/queue'
import { jobKey } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const redis = await connectTo(t, await startTestRedis(t))
const retention = { ageSec: 60, count: 100 }
let most = 100
const queues = new JobQueues(redis, new QueueDirectory(redis, 10), retention, { perOwner: () => most })
t.teardown(() => queues.close())
const steps = new StepJobs({ redis, queues, outputs: new OutputStore(redis, retention), canceller: new JobCanceller(redis, queues) })
const data: NewJob['data'] = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k' }
const make = async (id: string): Promise<NewJob> => await Promise.resolve({ id, type: 'x', data })

async function workflow (): Promise<{ queue: string, id: string, attempt: number }> {
  const id = queues.newId()
  await queues.add('q', [{ id, type: 'workflow.run', data }])
  return { queue: 'q', id, attempt: 0 }
}
const stepsOf = async (id: string): Promise<string[]> => (
  Object.entries(await redis.hgetall(jobKey('q', id))).flatMap(([field, value]) => field.startsWith('step:') ? [value] : [])
)

t.test('runs of a workflow that start a step at once make one job, whose id each of them gets', async t => {
  const parent = await workflow()
  const ids = await Promise.all(Array.from({ length: 5 }, async () => await steps.add(parent, { step: 'pay', queue: 'q' }, make)))
  t.equal(new Set(ids).size, 1)
  t.same(await stepsOf(parent.id), [ids[0]])
  t.equal((await steps.states(parent)).pending.size, 1)
  t.equal(await steps.add(parent, { step: 'pay', queue: 'q' }, make), ids[0], 'a later run too')
})

t.test('a step has an id in its workflow only where it has a job: a failover can\'t lose the one and keep the other', async t => {
  const parent = await workflow()
  most = 1
  await t.rejects(steps.add(parent, { step: 'pay', queue: 'q' }, make), QueueFullError)
  t.same(await stepsOf(parent.id), [])
  most = 100
  const id = await steps.add(parent, { step: 'pay', queue: 'q' }, make)
  t.same(await stepsOf(parent.id), [id])
  t.ok((await steps.states(parent)).pending.has(id))
})
