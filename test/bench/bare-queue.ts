import { Queue, QueueEvents } from 'bullmq'
import { Redis } from 'ioredis'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The yardstick: BullMQ by itself, its worker in a process of its own, one event listener for all jobs. */
interface BareQueue {
  /** Adds jobs in one go and waits until all of them are done. */
  run: (count: number, data?: object) => Promise<void>
  /** Adds jobs in one go to a queue that no worker serves. */
  submit: (count: number) => Promise<void>
  /** Its worker's process. */
  workerPid: number
  close: () => Promise<void>
}

/** As many finished jobs as Toolyard keeps. */
const kept = { age: 86_400, count: 10_000, limit: 100 }

const readme = { path: 'README.md' }

/** Starts the yardstick on a Redis of its own. */
export async function startBareQueue (socketPath: string): Promise<BareQueue> {
  const worker = fork(fileURLToPath(new URL('bare-worker.js', import.meta.url)), [socketPath])
  await once(worker, 'message')
  const connection = new Redis(socketPath, { maxRetriesPerRequest: null })
  const queue = new Queue('bare', { connection })
  const listening = connection.duplicate()
  // From the first event on: what is added before it listens would be missed.
  const events = new QueueEvents('bare', { connection: listening, lastEventId: '0-0' })
  await events.waitUntilReady()
  const waiting = new Map<string, () => void>()
  events.on('completed', ({ jobId }) => {
    waiting.get(jobId)?.()
    waiting.delete(jobId)
  })
  const parked = new Queue('parked', { connection })
  let next = 0
  const newIds = (count: number): string[] => Array.from({ length: count }, () => `job-${next++}`)
  const jobsOf = (ids: readonly string[], data: object): Parameters<Queue['addBulk']>[0] => ids.map(jobId => ({ name: 'read', data, opts: { jobId, removeOnComplete: kept } }))
  return {
    run: async (count, data = readme) => {
      const ids = newIds(count)
      const done = Promise.all(ids.map(id => new Promise<void>(resolve => waiting.set(id, resolve))))
      await queue.addBulk(jobsOf(ids, data))
      await done
    },
    submit: async count => { await parked.addBulk(jobsOf(newIds(count), readme)) },
    workerPid: worker.pid ?? 0,
    close: async () => {
      worker.kill()
      await events.close()
      await queue.close()
      await parked.close()
      listening.disconnect()
      connection.disconnect()
    }
  }
}
