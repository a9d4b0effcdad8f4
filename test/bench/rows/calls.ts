import { createService } from '../../support/service.ts'
import { startTestRedis } from '../../support/redis.ts'
import { startBareQueue } from '../bare-queue.ts'
import { cpuMs } from '../cpu-time.ts'
import { ratioAtLeast, ratioAtMost, type Stage } from '../frame/row.ts'
import { rateOf, timeOf } from '../frame/measures.ts'
import { p50, throughput } from '../sample.ts'
import { parked, parkingEnv, serviceCalls } from './service-calls.ts'

const inFlight = 8

/** Calls of `data_file_read` over HTTP beside BullMQ by itself. */
export const calls: Stage = {
  title: 'Calls over HTTP, beside BullMQ by itself',
  rows: {
    sync: { what: 'one sync call after the other, p50', yardstick: 'a bare BullMQ round trip', unit: 'ms', target: ratioAtMost(1.25) },
    'sync-32': { what: 'single sync calls, 32 in flight', yardstick: 'bare BullMQ, 32 in flight', unit: 'calls/s' },
    batch: { what: 'batches of 20, 8 in flight', yardstick: 'bare addBulk of 20, 8 in flight', unit: 'calls/s', target: ratioAtLeast(1) },
    'batch-cpu': { what: 'processor time of all processes for a job in such batches', yardstick: 'bare BullMQ', unit: 'ms' },
    submit: { what: 'async submit of 20, p50', yardstick: 'a bare addBulk of 20', unit: 'ms', target: ratioAtMost(1.3) },
    request: { what: 'a batch that makes no job, p50', unit: 'ms' }
  },
  open: async ({ cleanup, size }) => {
    const service = await createService(cleanup, { env: parkingEnv })
    const redis = await startTestRedis(cleanup)
    const bare = await startBareQueue(redis.socket)
    cleanup.teardown(() => bare.close())
    const ours = serviceCalls(service)
    const nothing = serviceCalls(service, { name: 'no_such_tool' })
    const single = { bare: async () => { await bare.run(1) }, ours: async () => await ours.batch(1) }
    const twenty = { bare: async () => { await bare.run(20) }, ours: async () => await ours.batch(20) }
    // During the first 500 batches an API process spends a sixth of its time on compiling what it runs.
    for (const run of [twenty.bare, twenty.ours]) await throughput(size(250, 5), inFlight, 20, run)
    for (const run of [single.bare, single.ours]) await p50(size(200, 5), run)
    const pids = {
      bare: [process.pid, redis.pid(), bare.workerPid],
      ours: [process.pid, service.redis.pid(), service.api.child.pid ?? 0, service.workers[0]?.child.pid ?? 0]
    }
    const [batches, runs] = [size(50, 3), size(75, 5)]
    const cost = async (side: 'bare' | 'ours'): Promise<number> => (
      (await cpuMs(pids[side], async () => await throughput(batches, inFlight, 20, twenty[side]))).ms / ((batches + inFlight) * 20)
    )
    return {
      sync: timeOf(runs, single),
      'sync-32': rateOf({ runs: size(500, 32), inFlight: 32, units: 1 }, single),
      batch: rateOf({ runs: batches, inFlight, units: 20 }, twenty),
      'batch-cpu': { yardstick: async () => await cost('bare'), subject: async () => await cost('ours') },
      submit: timeOf(size(30, 3), { bare: async () => { await bare.submit(20) }, ours: async () => await ours.batch(20, parked) }),
      request: { subject: async () => await p50(runs, async () => { await nothing.batch(1).catch(() => {}) }) }
    }
  }
}
