import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Cleanup } from '../support/cleanup.ts'
import { plainRedis } from '../support/connection.ts'
import { createService, testKeys, type Service } from '../support/service.ts'
import { post } from './http-client.ts'
import { ratioRow, type Row } from './report.ts'

const fleets = [1, 4, 16] as const
const workerCounts = [1, 2, 4] as const
const batches = 50
const perBatch = 20
/** How long the nap of the tool takes, and how many of them a worker runs at once. */
const napSec = 0.1
const concurrency = 16

interface Traffic {
  commands: number
  bytes: number
}

/** The cost of one job in Redis while 1, 4 and 16 API processes are there, without what they do at rest. */
export async function benchFleetCost (cleanup: Cleanup): Promise<Row[]> {
  const service = await createService(cleanup, { env: { LOG_LEVEL: 'warn' } })
  const redis = plainRedis(cleanup, service.redis)
  const rows: Row[] = []
  let alone: Traffic | undefined
  let running = 1
  for (const processes of fleets) {
    await Promise.all(Array.from({ length: processes - running }, () => service.startApi()))
    running = processes
    const cost = await costPerJob(redis, service)
    alone ??= cost
    rows.push(ratioRow(`Redis commands per job with ${processes} API processes (bare: with 1)`, alone.commands, cost.commands, 'about 1'))
    rows.push(ratioRow(`bytes out of Redis per job with ${processes} API processes (bare: with 1)`, alone.bytes, cost.bytes, 'about 1'))
  }
  return rows
}

/** Calls per second of a tool that sleeps, with 1, 2 and 4 workers, beside what as many sleepers would do for nothing. */
export async function benchScaleOut (cleanup: Cleanup): Promise<Row[]> {
  const service = await createService(cleanup, {
    workers: 0,
    tools: [{ name: 'nap', description: 'Sleeps.', command: ['/bin/sleep', String(napSec)], schema: { type: 'object' } }],
    env: { LOG_LEVEL: 'warn', SANDBOX: 'off', WORKER_CONCURRENCY: String(concurrency) }
  })
  const rows: Row[] = []
  let running = 0
  for (const workers of workerCounts) {
    await Promise.all(Array.from({ length: workers - running }, () => service.startWorker()))
    running = workers
    await napsPerSecond(service, 2 * workers)
    const before = busySeconds()
    const startedAt = performance.now()
    const rate = await napsPerSecond(service, 10 * workers)
    const busy = (busySeconds() - before) / ((performance.now() - startedAt) / 1_000)
    rows.push(ratioRow(`calls/s of a tool that sleeps ${napSec * 1_000} ms, ${workers} workers; ${busy.toFixed(1)} processors busy`, workers * concurrency / napSec, rate, 'at least 0.9 until the processors are full'))
  }
  return rows
}

async function costPerJob (redis: Redis, { client }: Service): Promise<Traffic> {
  const batch = async (): Promise<void> => {
    await client.batch(Array.from({ length: perBatch }, (_, index) => ({ call_id: `c${index}`, name: 'data_file_read', arguments: { path: 'README.md' } })))
  }
  await batch()
  const [start, startedAt] = [await trafficOf(redis), performance.now()]
  for (let run = 0; run < batches; run++) await batch()
  const [end, ms] = [await trafficOf(redis), performance.now() - startedAt]
  // As long as the load took, so that what is done by the clock is taken off in full.
  await sleep(ms)
  const rest = await trafficOf(redis)
  const jobs = batches * perBatch
  return {
    commands: (2 * end.commands - start.commands - rest.commands) / jobs,
    bytes: (2 * end.bytes - start.bytes - rest.bytes) / jobs
  }
}

async function trafficOf (redis: Redis): Promise<Traffic> {
  const info = await redis.info('stats')
  const field = (name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1])
  return { commands: field('total_commands_processed'), bytes: field('total_net_output_bytes') }
}

/** Keeps as many calls in flight as the workers have places, and some more that wait. */
async function napsPerSecond (service: Service, rounds: number): Promise<number> {
  const body = JSON.stringify({ calls: Array.from({ length: perBatch }, (_, index) => ({ call_id: `c${index}`, name: 'nap', arguments: {} })), wait_ms: 60_000 })
  const inFlight = 8
  let left = rounds * 8
  const total = left * perBatch
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) {
      const answer = await post(`${service.api.address}/v1/agent-tools/invoke-batch`, testKeys.admin, body)
      if (answer.includes('"ok":false')) throw new Error(`a call failed: ${answer.slice(0, 300)}`)
    }
  }))
  return total / ((performance.now() - startedAt) / 1_000)
}

/** Seconds that all processors together were busy since the machine started. */
function busySeconds (): number {
  const ticks = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/\s+/).slice(1).map(Number)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = ticks
  return (user + nice + system + irq + softirq) / 100
}
