import { readFileSync } from 'node:fs'
import type { Cleanup } from '../support/cleanup.ts'
import { createService, testKeys } from '../support/service.ts'
import { startTestRedis } from '../support/redis.ts'
import { startBareQueue } from './bare-queue.ts'
import { cpuMs } from './cpu-time.ts'
import { post } from './http-client.ts'
import { medianRow, ratioRow, type Row } from './report.ts'
import { latency, throughput } from './sample.ts'

/** The yardstick's number and Toolyard's, of the same round. */
type Pair = [bare: number, toolyard: number]

const rounds = 5
/**
 * What is done before the first round, so that V8 has compiled what both sides do: batches, and then calls by themselves.
 * During the first 500 batches an API process spends a sixth of its time on that; after 2,000 it has done with it.
 */
const warmUp = { batches: 2_000, calls: 3_000 }
const batches = 150
const inFlight = 8

const callOf = (index: number): object => ({ call_id: `c${index}`, name: 'data_file_read', arguments: { path: 'README.md' } })

/** Batches of `data_file_read` over HTTP beside BullMQ by itself; both in turns, so that a noisy machine hits both. */
export async function benchMainJob (cleanup: Cleanup, env: Record<string, string> = {}): Promise<Row[]> {
  const service = await createService(cleanup, { env: { LOG_LEVEL: 'warn', ...env } })
  const redis = await startTestRedis(cleanup)
  const bare = await startBareQueue(redis.socket)
  cleanup.teardown(() => bare.close())
  const url = `${service.api.address}/v1/agent-tools/invoke-batch`
  const single = JSON.stringify({ calls: [callOf(0)] })
  const twenty = JSON.stringify({ calls: Array.from({ length: 20 }, (_, index) => callOf(index)) })
  const without = JSON.stringify({ calls: [{ call_id: 'c0', name: 'no_such_tool' }] })
  const first = await post(url, testKeys.admin, single)
  if (!first.includes('content_text')) throw new Error(`the sample call failed: ${first}`)

  for (const run of [() => bare.run(20), () => post(url, testKeys.admin, twenty)]) await throughput(warmUp.batches, inFlight, 20, run)
  for (const run of [() => bare.run(1), () => post(url, testKeys.admin, single)]) await latency(warmUp.calls, run)

  const pids = {
    bare: [process.pid, redis.pid(), bare.workerPid],
    ours: [process.pid, service.redis.pid(), service.api.child.pid ?? 0, service.workers[0]?.child.pid ?? 0]
  }
  const rows: Row[] = []
  const latencies: Pair[] = []
  const sums: Pair[] = []
  const rates: Pair[] = []
  const costs: Pair[] = []
  for (let round = 1; round <= rounds; round++) {
    const bareLatency = await latency(100, () => bare.run(1))
    const ours = await latency(100, () => post(url, testKeys.admin, single))
    const request = await latency(100, () => post(url, testKeys.admin, without))
    latencies.push([bareLatency.p50, ours.p50])
    sums.push([bareLatency.p50 + request.p50, ours.p50])
    const bareRate = await cpuMs(pids.bare, () => throughput(batches, inFlight, 20, () => bare.run(20)))
    const rate = await cpuMs(pids.ours, () => throughput(batches, inFlight, 20, () => post(url, testKeys.admin, twenty)))
    rates.push([bareRate.result, rate.result])
    const jobs = (batches + inFlight) * 20
    costs.push([bareRate.ms / jobs, rate.ms / jobs])
    rows.push(ratioRow(`round ${round}: round trip p50, ms`, ...latencies.at(-1) ?? [NaN, NaN], ''), ratioRow(`round ${round}: batches of 20, jobs/s`, ...rates.at(-1) ?? [NaN, NaN], ''))
  }
  rows.push(
    medianRow('round trip p50, ms: the round in the middle', latencies, 'at most 1.5'),
    medianRow('the same, beside a bare round trip and a request that makes no job, one after the other', sums, ''),
    medianRow('batches of 20, 8 in flight, jobs/s: the round in the middle', rates, 'at least 0.75'),
    medianRow('processor time of all processes, ms per job in such batches', costs, '')
  )
  for (const [name, child] of [['API', service.api.child], ['worker', service.workers[0]?.child]] as const) {
    rows.push({ what: `${name}: resident memory after the load, MB`, bare: '', toolyard: residentMb(child?.pid ?? 0).toFixed(0), ratio: '', aim: 'idle below 120' })
  }
  return rows
}

/** Idle memory of a service that has served one call. */
export async function benchMemory (cleanup: Cleanup): Promise<Row[]> {
  const service = await createService(cleanup, {})
  await service.client.call('data_file_read', { path: 'README.md' })
  return ([['API', service.api.child], ['worker', service.workers[0]?.child]] as const).map(([name, child]) => (
    { what: `${name}: resident memory, idle, MB`, bare: '', toolyard: residentMb(child?.pid ?? 0).toFixed(0), ratio: '', aim: 'below 120' }
  ))
}

function residentMb (pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}
