import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../support/cleanup.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { startRedisProcess, type RedisProcess } from '../support/redis-process.ts'
import type { FleetOptions, FleetReport } from './fleet-members.ts'

const program = fileURLToPath(new URL('./fleet-members.js', import.meta.url))
const sizes = { workers: [10, 100, 500], queues: [1, 8, 64] }
/** The most connections that a cell may need. A server takes 10,000, and a member of a Cluster has one to each node. */
const mostConnections = { one: 9_500, cluster: 5_000 }
/** How long a fleet may take to come up, and to be measured, in milliseconds. */
const cellMs = 180_000

interface Target {
  name: keyof typeof mostConnections
  env: Record<string, string>
  masters: readonly RedisProcess[]
}

/**
 * The cost of a fleet in Redis: workers and API processes as far as Redis sees them, against one Redis and a Cluster of three masters.
 * `FLEET_WORKERS` and `FLEET_QUEUES` choose other sizes, as `10,100`.
 */
export async function benchFleet (cleanup: Cleanup, isQuick: boolean): Promise<void> {
  const workers = isQuick ? [3] : numbers('FLEET_WORKERS', sizes.workers)
  const queues = isQuick ? [2] : numbers('FLEET_QUEUES', sizes.queues)
  const seconds = isQuick ? 0.3 : 3
  const table: object[] = []
  for (const target of await targets(cleanup, isQuick)) {
    for (const workerCount of workers) {
      for (const queueCount of queues) table.push(await cell(target, workerCount, queueCount, seconds * 1_000))
    }
  }
  console.log('\nWhat a fleet of workers costs Redis')
  console.table(table)
}

function numbers (name: string, fallback: number[]): number[] {
  return process.env[name]?.split(',').map(Number) ?? fallback
}

async function targets (cleanup: Cleanup, isQuick: boolean): Promise<Target[]> {
  const config = { maxclients: '10000' }
  const one = await startRedisProcess(cleanup, { config })
  const single: Target = { name: 'one', env: { REDIS_URL: `redis://127.0.0.1:${one.port}` }, masters: [one] }
  if (isQuick) return [single]
  const cluster = await startRedisCluster(cleanup)
  return [single, { name: 'cluster', env: cluster.env, masters: cluster.masters }]
}

async function cell ({ name, env, masters }: Target, workers: number, queues: number, ms: number): Promise<object> {
  const size = { redis: name, workers, queues }
  const apis = Math.min(20, Math.max(2, workers / 10))
  // In a Cluster each queue of a worker waits over its own connection.
  const needed = workers * (name === 'one' ? 3 : 2 + queues) + 2 * apis
  if (needed > mostConnections[name]) return { ...size, failed: `it needs ${needed} connections` }
  for (const { client } of masters) await client.flushall()
  const options: FleetOptions = {
    env, servers: masters.map(({ port }) => port), workers, queues, apis, idleMs: ms, loadMs: ms
  }
  const report = await run(options).catch((error: unknown) => error instanceof Error ? error.message : String(error))
  if (typeof report === 'string') return { ...size, failed: report.slice(0, 60) }
  const { idle, load, jobs } = report
  return {
    ...size,
    connections: report.connections,
    'idle cmd/s': Math.round(idle.commands),
    'idle KB/s': Math.round(idle.bytes / 1_000),
    'idle cpu %': Number((idle.processorMs / 10).toFixed(1)),
    'new queue ms': Math.round(report.newQueueMs),
    'jobs/s': Math.round(jobs / report.seconds),
    'cpu µs/job': Math.round(1_000 * load.processorMs / jobs),
    'bytes/job': Math.round(load.bytes / jobs),
    'wait p99 ms': Math.round(report.waitP99Ms)
  }
}

async function run (options: FleetOptions): Promise<FleetReport> {
  const child = fork(program, [JSON.stringify(options)], { execArgv: ['--max-old-space-size=4096'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const timer = setTimeout(() => { child.kill('SIGKILL') }, cellMs)
  try {
    const ended = once(child, 'exit').then(([code, signal]) => { throw new Error(`the fleet ended with ${String(code ?? signal)}`) })
    const [report] = await Promise.race([once(child, 'message'), ended]) as [FleetReport]
    await ended.catch(() => {})
    return report
  } finally {
    clearTimeout(timer)
  }
}
