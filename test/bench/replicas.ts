import type { Cleanup } from '../support/cleanup.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisProcess } from '../support/redis-process.ts'
import { startProcesses, testKeys } from '../support/service.ts'
import { post } from './http-client.ts'
import { medianRow, type Row } from './report.ts'
import { latency, throughput } from './sample.ts'

const rounds = 5
const batches = 50
const inFlight = 8

/** What a tool costs that may run only once, where its beginning must be on a replica, beside one that waits for none. */
export async function benchReplicas (cleanup: Cleanup): Promise<Row[]> {
  const master = await startRedisProcess(cleanup)
  const replica = await startRedisProcess(cleanup, { config: { replicaof: `127.0.0.1 ${master.port}` } })
  await waitFor('the replica is in step', async () => /master_link_status:up/.test(await replica.client.info('replication')))
  const service = await startProcesses(cleanup, { REDIS_URL: `redis://127.0.0.1:${master.port}` }, { workers: 0, env: { LOG_LEVEL: 'warn' } })
  await service.client.request('/v1/job-types/data.file_read', { method: 'PATCH', body: { idempotent: false } })
  const queueOf = { 0: 'bare', 1: 'safe' }
  for (const [replicas, queue] of Object.entries(queueOf)) {
    await service.startWorker({ REDIS_WAIT_REPLICAS: replicas, WORKER_QUEUES: queue })
  }
  const call = (index: number): object => ({ call_id: `c${index}`, name: 'data_file_read', arguments: { path: 'README.md' } })
  const send = (queue: string, count: number) => async () => await post(`${service.api.address}/v1/agent-tools/invoke-batch`, testKeys.admin, JSON.stringify({ queue, calls: Array.from({ length: count }, (_, index) => call(index)) }))
  const times: Array<[bare: number, toolyard: number]> = []
  const rates: typeof times = []
  for (const queue of Object.values(queueOf)) await throughput(500, inFlight, 20, send(queue, 20))
  for (let round = 0; round < rounds; round++) {
    times.push([(await latency(200, send('bare', 1))).p50, (await latency(200, send('safe', 1))).p50])
    rates.push([await throughput(batches, inFlight, 20, send('bare', 20)), await throughput(batches, inFlight, 20, send('safe', 20))])
  }
  return [medianRow('round trip p50, ms', times, ''), medianRow('batches of 20, 8 in flight, jobs/s', rates, '')]
}
