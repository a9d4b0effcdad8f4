import { Redis } from 'ioredis'
import { waitFor } from '../../support/condition.ts'
import { createService, type Service } from '../../support/service.ts'
import { rateOf, timeOf } from '../frame/measures.ts'
import { ratioAtLeast, ratioAtMost, type Stage } from '../frame/row.ts'
import { p50, throughput } from '../sample.ts'
import { parkingEnv, serviceCalls } from './service-calls.ts'

/** Ten rules of which none is true of the calls that are measured, and one that holds those of another tool. */
const rules = [
  ...Array.from({ length: 9 }, (_, index) => ({
    when: `tool == "data_file_read" && key.name != "boss" && has(args.path) && args.path.startsWith("secret/${index}")`, then: 'deny'
  })),
  { when: 'tool == "echo"', then: 'hold' }
]

/** The cost of rules for a call, and of held calls for others. */
export const heldCalls: Stage = {
  title: 'rules, and 10,000 held calls',
  rows: {
    'policy-sync': { what: 'one sync call after the other, each asked about with ten rules, p50', yardstick: 'Toolyard without rules', unit: 'ms', target: ratioAtMost(1.05) },
    'held-batch': { what: 'batches of 20, 8 in flight, while 10,000 calls are held in their queue', yardstick: 'Toolyard without them', unit: 'calls/s', target: ratioAtLeast(0.95) }
  },
  open: async ({ cleanup, size }) => {
    const start = async (policy: object[]): Promise<Service> => await createService(cleanup, {
      files: { 'tools/bin/echo': '#!/bin/sh\ncat\n', 'policy.json': JSON.stringify(policy) },
      tools: [{ name: 'echo', schema: { type: 'object' }, command: ['./tools/bin/echo'] }],
      env: { ...parkingEnv, POLICY_FILE: 'policy.json' }
    })
    const [plain, ruled] = [await start([]), await start(rules)]
    const [off, on] = [serviceCalls(plain), serviceCalls(ruled)]
    for (const { batch } of [off, on]) {
      await throughput(size(120, 5), 8, 20, async () => await batch(20))
      await p50(size(120, 5), async () => await batch(1))
    }
    // Rules cost little: both have them where held calls are measured.
    const held = await start(rules)
    await hold(held, size(10_000, 40))
    const beside = serviceCalls(held)
    await throughput(size(120, 5), 8, 20, async () => await beside.batch(20))
    // As many calls are behind both.
    await throughput(size(500, 2), 8, 20, async () => await on.batch(20))
    return {
      'policy-sync': timeOf(size(150, 5), { bare: async () => await off.batch(1), ours: async () => await on.batch(1) }),
      'held-batch': rateOf({ runs: size(48, 3), inFlight: 8, units: 20 }, { bare: async () => await on.batch(20), ours: async () => await beside.batch(20) })
    }
  }
}

/** Has so many calls held, in the queue of the others. */
async function hold (service: Service, count: number): Promise<void> {
  const { client, redis: { socket } } = service
  const body = { mode: 'async', calls: Array.from({ length: 20 }, (_, index) => ({ call_id: `c${index}`, name: 'echo', arguments: { text: 'held' } })) }
  for (let at = 0; at < count; at += 20) await client.request('/v1/agent-tools/invoke-batch', { body })
  const redis = new Redis(socket)
  await waitFor('all are held', async () => await redis.zcard('toolyard:{default}:held') >= count)
  redis.disconnect()
}
