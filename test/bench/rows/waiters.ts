import { setMaxListeners } from 'node:events'
import { request } from 'node:http'
import { waitFor } from '../../support/condition.ts'
import { plainRedis } from '../../support/connection.ts'
import { createService, testKeys, type Service } from '../../support/service.ts'
import { ratioAtMost, valueAtMost, type Setting, type Stage } from '../frame/row.ts'
import { residentKb } from '../resident.ts'
import { p50 } from '../sample.ts'
import { parkingEnv, serviceCalls } from './service-calls.ts'

/** Sync callers whose jobs nobody takes, while others are served. */
export const waiters: Stage = {
  title: '2,000 sync callers that wait',
  rows: {
    waiters: { what: 'one sync call after the other while 2,000 callers wait, p50', yardstick: 'Toolyard without them', unit: 'ms', target: ratioAtMost(1.2) },
    'waiters-memory': { what: 'resident memory of the API for each caller that waits', unit: 'KB', target: valueAtMost(40) }
  },
  open: async ({ cleanup, size }) => {
    const [calm, crowded] = [await createService(cleanup, { env: parkingEnv }), await createService(cleanup, { env: parkingEnv })]
    const times = async (service: Service): Promise<number> => await p50(size(75, 5), async () => await serviceCalls(service).batch(1))
    for (const service of [calm, crowded]) await p50(size(300, 5), async () => await serviceCalls(service).batch(1))
    const callers = size(2_000, 50)
    const before = residentKb(crowded.api.child.pid)
    await openWaiters(cleanup, crowded, callers)
    const grown = residentKb(crowded.api.child.pid) - before
    return {
      waiters: { yardstick: async () => await times(calm), subject: async () => await times(crowded) },
      // A process grows once.
      'waiters-memory': { subject: async () => grown / callers, rounds: 1 }
    }
  }
}

/** Opens callers and waits until the jobs of all of them are there. One that is answered calls again. */
async function openWaiters (cleanup: Setting['cleanup'], { api, redis }: Service, count: number): Promise<void> {
  const over = new AbortController()
  setMaxListeners(count, over.signal)
  const body = JSON.stringify({ queue: 'parked', wait_ms: 60_000, calls: [{ call_id: 'c', name: 'data_file_read', arguments: { path: 'README.md' } }] })
  const call = (): void => {
    const sent = request(`${api.address}/v1/agent-tools/invoke-batch`, {
      method: 'POST', agent: false, signal: over.signal, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-api-key': testKeys.admin }
    }, response => { response.resume().on('end', () => { if (!over.signal.aborted) call() }).on('error', () => {}) })
    sent.on('error', () => {}).end(body)
  }
  cleanup.teardown(() => { over.abort() })
  const client = plainRedis(cleanup, redis)
  for (let caller = 0; caller < count; caller++) call()
  await waitFor('the jobs of all callers wait', async () => await client.zcard('toolyard:{parked}:prioritized') >= count, 60_000)
}
