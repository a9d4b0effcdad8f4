import { createService } from '../../support/service.ts'
import { post } from '../http-client.ts'
import { ratioAtMost, type Stage } from '../frame/row.ts'
import { quantile, timesOf } from '../sample.ts'

const keys = { calm: 'bench-key-of-the-calm-one', flood: 'bench-key-of-the-flooding-one' }
const flooders = 12

/** One key's calls by themselves, and while another key has more calls under way than the workers have places for. */
export const fairness: Stage = {
  title: 'One key beside another that floods',
  isHeavy: true,
  rows: {
    fairness: { what: `a call of 50 ms while another key has ${flooders * 20} under way, p95`, yardstick: 'the same call alone', unit: 'ms', target: ratioAtMost(3) }
  },
  open: async ({ cleanup, size }) => {
    const service = await createService(cleanup, {
      tools: [{ name: 'nap', description: 'Sleeps.', command: ['./tools/bin/nap'], schema: { type: 'object' } }],
      files: { 'tools/bin/nap': '#!/bin/sh\nexec sleep 0.05\n' },
      env: { LOG_LEVEL: 'warn', SANDBOX: 'off', API_KEYS_JSON: JSON.stringify(Object.entries(keys).map(([name, key]) => ({ name, key, role: 'admin' }))) }
    })
    const url = `${service.api.address}/v1/agent-tools/invoke-batch`
    const bodyOf = (calls: number): string => JSON.stringify({ calls: Array.from({ length: calls }, (_, index) => ({ call_id: `c${index}`, name: 'nap', arguments: {} })), wait_ms: 60_000 })
    const [single, twenty] = [bodyOf(1), bodyOf(20)]
    const calm = async (): Promise<number> => quantile(await timesOf(size(20, 2), async () => {
      const answer = await post(url, keys.calm, single)
      if (answer.includes('"ok":false')) throw new Error(`a call failed: ${answer.slice(0, 300)}`)
    }), 0.95)
    await calm()
    return {
      fairness: {
        yardstick: calm,
        subject: async () => {
          const over = new AbortController()
          const flood = Promise.all(Array.from({ length: flooders }, async () => {
            while (!over.signal.aborted) await post(url, keys.flood, twenty)
          }))
          // The flood is there when each of its batches waits for places.
          await post(url, keys.flood, twenty)
          try {
            return await calm()
          } finally {
            over.abort()
            await flood
          }
        }
      }
    }
  }
}
