import { waitFor } from '../../support/condition.ts'
import { startRedisProcess } from '../../support/redis-process.ts'
import { startProcesses } from '../../support/service.ts'
import { rateOf, timeOf, type Sides } from '../frame/measures.ts'
import type { Stage } from '../frame/row.ts'
import { throughput } from '../sample.ts'
import { serviceCalls } from './service-calls.ts'

const yardstick = 'Toolyard that waits for none'

/** The cost of a tool that may run only once, where its beginning must be on a replica. */
export const replicas: Stage = {
  title: 'Tools that may run only once, with one replica that must know of it',
  isHeavy: true,
  rows: {
    replicas: { what: 'one sync call after the other, p50', yardstick, unit: 'ms' },
    'replicas-batch': { what: 'batches of 20, 8 in flight', yardstick, unit: 'calls/s' }
  },
  open: async ({ cleanup, size }) => {
    const master = await startRedisProcess(cleanup)
    const replica = await startRedisProcess(cleanup, { config: { replicaof: `127.0.0.1 ${master.port}` } })
    await waitFor('the replica is in step', async () => /master_link_status:up/.test(await replica.client.info('replication')))
    const service = await startProcesses(cleanup, { REDIS_URL: `redis://127.0.0.1:${master.port}` }, { workers: 0, env: { LOG_LEVEL: 'warn' } })
    await service.client.request('/v1/job-types/data.file_read', { method: 'PATCH', body: { idempotent: false } })
    for (const [replicas, queue] of [['0', 'bare'], ['1', 'safe']] as const) await service.startWorker({ REDIS_WAIT_REPLICAS: replicas, WORKER_QUEUES: queue })
    const { batch } = serviceCalls(service)
    for (const queue of ['bare', 'safe']) await throughput(size(500, 8), 8, 20, async () => await batch(20, { queue }))
    const sides = (calls: number): Sides => ({ bare: async () => await batch(calls, { queue: 'bare' }), ours: async () => await batch(calls, { queue: 'safe' }) })
    return {
      replicas: timeOf(size(200, 5), sides(1)),
      'replicas-batch': rateOf({ runs: size(50, 8), inFlight: 8, units: 20 }, sides(20))
    }
  }
}
