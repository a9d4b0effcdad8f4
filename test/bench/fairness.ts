import type { Cleanup } from '../support/cleanup.ts'
import { createService } from '../support/service.ts'
import { post } from './http-client.ts'
import { ratioRow, type Row } from './report.ts'
import { percentile95 } from './sample.ts'

const keys = { calm: 'bench-key-of-the-calm-one', flood: 'bench-key-of-the-flooding-one' }
const runs = 60
const flooders = 12

/** One key's calls by themselves, and while another key has more calls under way than the workers have places for. */
export async function benchFairness (cleanup: Cleanup): Promise<Row[]> {
  const service = await createService(cleanup, {
    tools: [{ name: 'nap', description: 'Sleeps.', command: ['./tools/bin/nap'], schema: { type: 'object' } }],
    files: { 'tools/bin/nap': '#!/bin/sh\nexec sleep 0.05\n' },
    env: { LOG_LEVEL: 'warn', SANDBOX: 'off', API_KEYS_JSON: JSON.stringify(Object.entries(keys).map(([name, key]) => ({ name, key, role: 'admin' }))) }
  })
  const url = `${service.api.address}/v1/agent-tools/invoke-batch`
  const batch = (calls: number): string => JSON.stringify({ calls: Array.from({ length: calls }, (_, index) => ({ call_id: `c${index}`, name: 'nap', arguments: {} })), wait_ms: 60_000 })
  const [single, twenty] = [batch(1), batch(20)]
  const calm = async (): Promise<number> => {
    const times: number[] = []
    for (let run = 0; run < runs; run++) {
      const startedAt = performance.now()
      const answer = await post(url, keys.calm, single)
      if (answer.includes('"ok":false')) throw new Error(`a call failed: ${answer.slice(0, 300)}`)
      times.push(performance.now() - startedAt)
    }
    return percentile95(times)
  }
  await calm()
  const alone = await calm()
  const over = new AbortController()
  const flood = Promise.all(
    Array.from({ length: flooders }, async () => { while (!over.signal.aborted) await post(url, keys.flood, twenty) })
  )
  // The flood is there when each of its batches waits for places.
  await post(url, keys.flood, twenty)
  const flooded = await calm()
  over.abort()
  await flood
  return [ratioRow(`p95 of a call of 50 ms, ms, while another key has ${flooders * 20} calls under way (bare: alone)`, alone, flooded, 'at most 3')]
}
