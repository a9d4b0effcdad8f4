import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Cleanup } from '../support/cleanup.ts'
import { plainRedis } from '../support/connection.ts'
import { createService, type Service } from '../support/service.ts'
import { ratioRow, type Row } from './report.ts'

const fleets = [1, 4, 16] as const
const batches = 50
const perBatch = 20

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
