import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createService } from '../../support/service.ts'
import { startTestRedis } from '../../support/redis.ts'
import { startBareQueue } from '../bare-queue.ts'
import { cpuMs } from '../cpu-time.ts'
import { ratioAtLeast, ratioAtMost, type Stage } from '../frame/row.ts'
import { rateOf, timeOf } from '../frame/measures.ts'
import { post } from '../http-client.ts'
import { p50, throughput } from '../sample.ts'
import { parked, parkingEnv, serviceCalls } from './service-calls.ts'

const inFlight = 8
const oneCall = JSON.stringify({ calls: [{ call_id: 'c0', name: 'no_such_tool', arguments: { path: 'README.md' } }] })

/** Calls of `data_file_read` over HTTP beside BullMQ by itself. */
export const calls: Stage = {
  title: 'Calls over HTTP, beside BullMQ by itself',
  rows: {
    sync: { what: 'one sync call after the other, p50', yardstick: 'a bare BullMQ round trip and `request` together', unit: 'ms', target: ratioAtMost(1.2) },
    'sync-bare': { what: 'the same', yardstick: 'a bare BullMQ round trip', unit: 'ms' },
    'sync-32': { what: 'single sync calls, 32 in flight', yardstick: 'bare BullMQ, 32 in flight', unit: 'calls/s', target: ratioAtLeast(0.55) },
    batch: { what: 'batches of 20, 8 in flight', yardstick: 'bare addBulk of 20, 8 in flight', unit: 'calls/s', target: ratioAtLeast(0.95) },
    'batch-cpu': { what: 'processor time of all processes for a job in such batches', yardstick: 'bare BullMQ', unit: 'ms', target: ratioAtMost(1.15) },
    submit: { what: 'async submit of 20, p50', yardstick: 'a bare addBulk of 20', unit: 'ms', target: ratioAtMost(1.3) },
    request: { what: 'a batch that makes no job, p50', yardstick: 'a bare Fastify with one JSON schema', unit: 'ms' }
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
    const bareApi = fork(fileURLToPath(new URL('../bare-api.js', import.meta.url)))
    cleanup.teardown(() => { bareApi.kill() })
    const [address] = await once(bareApi, 'message') as [string]
    const noJob = { bare: async () => { await post(address, '', oneCall) }, ours: async () => { await nothing.batch(1).catch(() => {}) } }
    // Rounds get faster for so long.
    for (const run of [twenty.bare, twenty.ours]) await throughput(size(1_000, 5), inFlight, 20, run)
    for (const run of [single.bare, single.ours, noJob.bare, noJob.ours]) await p50(size(1_500, 5), run)
    const pids = {
      bare: [process.pid, redis.pid(), bare.workerPid],
      ours: [process.pid, service.redis.pid(), service.api.child.pid ?? 0, service.workers[0]?.child.pid ?? 0]
    }
    const [batches, runs] = [size(50, 3), size(75, 5)]
    const cost = async (side: 'bare' | 'ours'): Promise<number> => (
      (await cpuMs(pids[side], async () => await throughput(batches, inFlight, 20, twenty[side]))).ms / ((batches + inFlight) * 20)
    )
    return {
      sync: {
        yardstick: async () => await p50(runs, single.bare) + await p50(runs, noJob.ours),
        subject: async () => await p50(runs, single.ours)
      },
      'sync-bare': timeOf(runs, single),
      'sync-32': rateOf({ runs: size(500, 32), inFlight: 32, units: 1 }, single),
      batch: rateOf({ runs: batches, inFlight, units: 20 }, twenty),
      'batch-cpu': { yardstick: async () => await cost('bare'), subject: async () => await cost('ours') },
      submit: timeOf(size(30, 3), { bare: async () => { await bare.submit(20) }, ours: async () => await ours.batch(20, parked) }),
      request: timeOf(runs, noJob)
    }
  }
}

/** A service before Node has compiled what it runs. */
export const coldCalls: Stage = {
  title: 'The first calls of a service',
  rows: { cold: { what: 'the first 200 sync calls after a start, one after the other, p50', yardstick: 'the calls 1,500 to 1,700', unit: 'ms' } },
  open: async ({ cleanup, size }) => {
    const rounds = new Map<number, Promise<{ first: number, later: number }>>()
    const startOnce = async (): Promise<{ first: number, later: number }> => {
      const { batch } = serviceCalls(await createService(cleanup, { env: parkingEnv }))
      const call = async (): Promise<unknown> => await batch(1)
      const first = await p50(size(200, 5), call)
      await p50(size(1_300, 5), call)
      return { first, later: await p50(size(200, 5), call) }
    }
    const round = async (number: number): Promise<{ first: number, later: number }> => {
      const started = rounds.get(number) ?? startOnce()
      rounds.set(number, started)
      return await started
    }
    return { cold: { yardstick: async each => (await round(each)).later, subject: async each => (await round(each)).first, rounds: 3 } }
  }
}
