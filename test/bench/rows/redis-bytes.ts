import { Redis } from 'ioredis'
import { waitFor } from '../../support/condition.ts'
import { startTestRedis } from '../../support/redis.ts'
import { createService } from '../../support/service.ts'
import { startBareQueue } from '../bare-queue.ts'
import { valueAtMost, type Stage } from '../frame/row.ts'
import { parked, parkingEnv, serviceCalls } from './service-calls.ts'

const outputBytes = 12_000
const perBatch = 20
/** Memory hardly differs from one to another. */
const rounds = 3

/** The memory of jobs in Redis, all keys of Toolyard counted. */
export const redisBytes: Stage = {
  title: 'Memory of Redis for a job',
  rows: {
    'bytes-waiting': { what: 'a job that waits', yardstick: 'a bare BullMQ job', unit: 'KB', target: valueAtMost(1.2) },
    'bytes-finished': { what: 'a finished job', yardstick: 'a bare BullMQ job', unit: 'KB' },
    'bytes-output': { what: 'a finished job with 12 KB of output', yardstick: 'a bare BullMQ job', unit: 'KB' }
  },
  open: async ({ cleanup, size }) => {
    const service = await createService(cleanup, { files: { 'workspace/large.txt': 'x'.repeat(outputBytes) }, env: parkingEnv })
    const bareRedis = await startTestRedis(cleanup)
    const bare = await startBareQueue(bareRedis.socket)
    cleanup.teardown(() => bare.close())
    const [ours, theirs] = [service.redis.socket, bareRedis.socket].map(socket => {
      const client = new Redis(socket)
      cleanup.teardown(() => { client.disconnect() })
      return client
    })
    if (ours === undefined || theirs === undefined) throw new Error('no connection')
    const [small, large] = [serviceCalls(service), serviceCalls(service, { args: { path: 'large.txt' } })]
    const settled = async (before: number, jobs: number): Promise<void> => {
      await waitFor('all jobs have ended', async () => await ours.zcard('toolyard:{default}:completed') >= before + jobs, 60_000)
    }
    const times = async (jobs: number, run: () => Promise<unknown>): Promise<void> => {
      for (let done = 0; done < jobs; done += perBatch) await run()
    }
    /** Kilobytes for each job that `run` adds. */
    const cost = async (redis: Redis, jobs: number, run: () => Promise<unknown>): Promise<number> => {
      const before = await usedBytes(redis)
      await run()
      return (await usedBytes(redis) - before) / jobs / 1_024
    }
    const finished = async (jobs: number, { batch }: typeof small): Promise<number> => await cost(ours, jobs, async () => {
      const before = await ours.zcard('toolyard:{default}:completed')
      await times(jobs, async () => await batch(perBatch))
      await settled(before, jobs)
    })
    const [many, some] = [size(2_000, perBatch), size(400, perBatch)]
    // Streams and tables have their size once some jobs have ended.
    await finished(many, small)
    await times(many, async () => { await bare.run(perBatch) })
    const bareCost = async (jobs: number, run: () => Promise<void>): Promise<number> => (
      await cost(theirs, jobs, async () => { await times(jobs, run) })
    )
    const finishedSmall = async (): Promise<void> => { await bare.run(perBatch) }
    const finishedLarge = async (): Promise<void> => { await bare.run(perBatch, { path: 'large.txt', bytes: outputBytes }) }
    return {
      'bytes-waiting': {
        yardstick: async () => await bareCost(many, async () => { await bare.submit(perBatch) }),
        subject: async () => await cost(ours, many, async () => { await times(many, async () => await small.batch(perBatch, parked)) }),
        rounds
      },
      'bytes-finished': { yardstick: async () => await bareCost(many, finishedSmall), subject: async () => await finished(many, small), rounds },
      'bytes-output': { yardstick: async () => await bareCost(some, finishedLarge), subject: async () => await finished(some, large), rounds }
    }
  }
}

async function usedBytes (redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
}
