import { JobQueues, QueueDirectory, type NewJob } from '@toolyard/queue'
import { newJobId } from '@toolyard/store'
import { connectTo } from '../../support/connection.ts'
import { startTestRedis } from '../../support/redis.ts'
import { ratioAtMost, type Stage } from '../frame/row.ts'
import { p50, quantile } from '../sample.ts'

const perCommand = 500
const jobData = { tool: 'data_file_read', arguments: { path: 'README.md' }, timeoutSec: 30, tags: [], keyName: 'admin' }

/** Jobs are added to and taken from a queue in which many wait, beside one in which none does. */
export function depth (name: string, waiting: number, isHeavy: boolean): Stage {
  const target = ratioAtMost(1.2)
  const [enqueue, take] = [`${name}-enqueue`, `${name}-take`]
  const count = waiting.toLocaleString('en-US')
  return {
    title: `${count} jobs that wait`,
    ...(isHeavy ? { isHeavy } : {}),
    rows: {
      [enqueue]: { what: `a job is added to a queue where ${count} wait, p50`, yardstick: 'an empty queue', unit: 'ms', target },
      [take]: { what: `a job is taken from a queue where ${count} wait, p50`, yardstick: 'a queue with that job alone', unit: 'ms', target }
    },
    open: async ({ cleanup, size }) => {
      const redis = await connectTo(cleanup, await startTestRedis(cleanup))
      const queues = new JobQueues(redis, new QueueDirectory(redis, 3), { ageSec: 60, count: 10 })
      cleanup.teardown(() => queues.close())
      const newJobs = (length: number): NewJob[] => Array.from({ length }, () => ({ id: newJobId(), type: 'data.file_read', data: jobData }))
      for (let left = size(waiting, perCommand); left > 0; left -= 8 * perCommand) {
        await Promise.all(Array.from({ length: Math.min(8, Math.ceil(left / perCommand)) }, async () => await queues.add('deep', newJobs(perCommand))))
      }
      /** Adds and takes jobs in turns, so that the empty queue stays empty; the milliseconds of both. */
      const times = async (queue: string): Promise<{ added: number[], taken: number[] }> => {
        const [added, taken]: [number[], number[]] = [[], []]
        const opened = queues.open(queue)
        for (let run = 0; run < size(100, 3); run++) {
          added.push(await p50(1, async () => await queues.add(queue, newJobs(1))))
          let id = ''
          taken.push(await p50(1, async () => { [, id] = await opened.backend.moveToActive('bench') }))
          const job = await opened.getJob(id)
          if (job === undefined) throw new Error(`no job was taken from ${queue}`)
          await job.moveToCompleted({ kind: 'inline', value: null }, 'bench', false)
        }
        return { added, taken }
      }
      for (const queue of ['empty', 'deep']) await times(queue)
      return {
        [enqueue]: { yardstick: async () => quantile((await times('empty')).added, 0.5), subject: async () => quantile((await times('deep')).added, 0.5) },
        [take]: { yardstick: async () => quantile((await times('empty')).taken, 0.5), subject: async () => quantile((await times('deep')).taken, 0.5) }
      }
    }
  }
}
