import { createService } from '../../support/service.ts'
import { ratioAtLeast, type Stage } from '../frame/row.ts'
import { throughput } from '../sample.ts'
import { serviceCalls } from './service-calls.ts'

const napSec = 0.1
/** Calls that a worker runs at once. */
const concurrency = 16
const workerCounts = [1, 2, 4]

/** Calls of a tool that sleeps, with more workers from row to row, beside what as many sleepers would do. */
export const scale: Stage = {
  title: 'Workers added',
  isHeavy: true,
  rows: Object.fromEntries(workerCounts.map(workers => [`scale-${workers}`, {
    what: `calls of a tool that sleeps ${napSec * 1_000} ms, ${workers} ${workers === 1 ? 'worker' : 'workers'}`, yardstick: 'its places divided by its sleep', unit: 'calls/s', target: ratioAtLeast(0.9)
  }])),
  open: async ({ cleanup, size }) => {
    const service = await createService(cleanup, {
      workers: 0,
      tools: [{ name: 'nap', description: 'Sleeps.', command: ['/bin/sleep', String(napSec)], schema: { type: 'object' } }],
      env: { LOG_LEVEL: 'warn', SANDBOX: 'off', WORKER_CONCURRENCY: String(concurrency) }
    })
    const { batch } = serviceCalls(service, { name: 'nap', args: {} })
    let running = 0
    const rate = async (workers: number): Promise<number> => {
      await Promise.all(Array.from({ length: workers - running }, async () => await service.startWorker()))
      running = Math.max(running, workers)
      return await throughput(size(16 * workers, 2), 8, 20, async () => await batch(20, { wait_ms: 60_000 }))
    }
    return Object.fromEntries(workerCounts.map(workers => [`scale-${workers}`, {
      yardstick: async () => workers * concurrency / napSec, subject: async () => await rate(workers)
    }]))
  }
}
