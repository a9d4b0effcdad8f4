/**
 * The members of a fleet, many in one process: workers and API processes as far as Redis sees them, with the code that
 * real ones speak to Redis with, and no tools. `fleet.ts` forks it, with a `FleetOptions` as its argument, and gets a `FleetReport`.
 */
import { CompletionWaiter, JobQueues, QueueDirectory, WorkerPool } from '@toolyard/queue'
import { connectRedis, isConnected, newJobId, WorkerHeartbeat, type Redis } from '@toolyard/store'
import { readSettings, redisTargetOf, retentionOf } from '@toolyard/runtime'
import { Redis as Server } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from './sample.ts'

export interface FleetOptions {
  /** Settings that say where Redis is. */
  env: Record<string, string>
  /** The servers that are measured: ports, or the path of a socket. */
  servers: Array<number | string>
  workers: number
  queues: number
  apis: number
  idleMs: number
  loadMs: number
}

export interface FleetReport {
  connections: number
  /** At rest, a second. */
  idle: Usage
  /** From when a queue is made until all workers serve it. */
  newQueueMs: number
  jobs: number
  seconds: number
  /** Under load, all of it. */
  load: Usage
  waitP99Ms: number
}

/** All servers together. */
export interface Usage {
  commands: number
  bytes: number
  processorMs: number
}

const options = JSON.parse(process.argv[2] ?? '') as FleetOptions
const settings = readSettings(options.env)
const retention = { ...retentionOf(settings), count: 1_000 }
const perBatch = 20
const batchesInFlight = 2
const queueNames = Array.from({ length: options.queues }, (_, index) => `q${index}`)

const waits: number[] = []
const connections: Redis[] = []
const errors = new Set<string>()

async function connect (role: Parameters<typeof connectRedis>[1]): Promise<Redis> {
  const redis = connectRedis(redisTargetOf(settings), role, error => { errors.add(error.message) })
  connections.push(redis)
  if (!await isConnected(redis, 60_000)) throw new Error(`Redis does not answer: ${[...errors].join(', ')}`)
  return redis
}

interface Worker {
  pool: WorkerPool
  heartbeat: WorkerHeartbeat
}

async function startWorker (number: number): Promise<Worker> {
  const redis = await connect('worker')
  const pool = new WorkerPool({
    name: `worker-${number}`,
    redis,
    subscriber: await connect('subscriber'),
    retention,
    queues: ['*'],
    concurrency: 8,
    handle: async ({ waitedMs }) => {
      if (waitedMs !== undefined) waits.push(waitedMs)
      return { kind: 'succeeded', json: '1', value: 1 }
    },
    onError: error => { errors.add(error.message) }
  })
  await pool.start()
  const heartbeat = new WorkerHeartbeat(redis, `worker-${number}`, async () => (
    { id: `worker-${number}`, queues: ['*'], sandbox: { level: 'full', missing: [] }, tools: '', places: pool.places }
  ), () => {})
  await heartbeat.start()
  return { pool, heartbeat }
}

interface Api {
  queues: JobQueues
  directory: QueueDirectory
  waiter: CompletionWaiter
}

async function startApi (): Promise<Api> {
  const redis = await connect('request')
  const waiter = new CompletionWaiter(redis, await connect('subscriber'))
  await waiter.start()
  const directory = new QueueDirectory(redis, 1_000)
  return { queues: new JobQueues(redis, directory, retention), directory, waiter }
}

/** Starts them some at a time: a thousand connections at once are refused. */
async function inTurns<T> (count: number, start: (number: number) => Promise<T>): Promise<T[]> {
  const started: T[] = []
  while (started.length < count) {
    const first = started.length
    started.push(...await Promise.all(Array.from({ length: Math.min(10, count - first) }, (_, place) => start(first + place))))
  }
  return started
}

async function until (isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`the fleet did not come up: ${[...errors].join(', ')}`)
    await sleep(2)
  }
}

const servers = options.servers.map(server => typeof server === 'number' ? new Server({ port: server }) : new Server(server))

async function usage (): Promise<Usage & { connections: number }> {
  const sum = { commands: 0, bytes: 0, processorMs: 0, connections: 0 }
  for (const server of servers) {
    const info = await server.info()
    const field = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
    sum.commands += field('total_commands_processed')
    sum.bytes += field('total_net_output_bytes') + field('total_net_input_bytes')
    sum.processorMs += 1_000 * (field('used_cpu_user') + field('used_cpu_sys'))
    sum.connections += field('connected_clients')
  }
  return sum
}

async function measured (work: () => Promise<unknown>): Promise<Usage & { seconds: number }> {
  const [before, startedAt] = [await usage(), performance.now()]
  await work()
  const [after, seconds] = [await usage(), (performance.now() - startedAt) / 1_000]
  return {
    commands: after.commands - before.commands,
    bytes: after.bytes - before.bytes,
    processorMs: after.processorMs - before.processorMs,
    seconds
  }
}

/** As requests do it: a batch is added with one command, and its ends are heard of. */
async function batch ({ queues, waiter }: Api, queue: string): Promise<number> {
  const data = { tool: 'x', arguments: {}, timeoutSec: 1, tags: [], keyName: 'k', replyTo: waiter.processId }
  const jobs = Array.from({ length: perBatch }, () => ({ id: newJobId(), type: 'x', data }))
  const ids = jobs.map(({ id }) => id)
  const expectation = waiter.expect(queue, ids)
  try {
    const refused = await queues.add(queue, jobs)
    if (refused.size > 0) throw new Error('a job was refused')
    expectation.arm(ids)
    const settled = await expectation.settle(30_000, new AbortController().signal)
    if (settled.size < perBatch) throw new Error('a job did not end in 30 s')
    return perBatch
  } finally {
    expectation.release()
  }
}

const apis = await inTurns(options.apis, startApi)
for (const queue of queueNames) await apis[0]?.directory.register(queue)
const workers = await inTurns(options.workers, startWorker)
const serve = (count: number): boolean => workers.every(({ pool: { places } }) => places.total >= count * places.perQueue)
await until(() => serve(options.queues))
await sleep(500)

const { connections: open } = await usage()
const atRest = await measured(() => sleep(options.idleMs))
const perSecond = (sum: number): number => sum / atRest.seconds

const madeAt = performance.now()
await apis[0]?.directory.register('new')
await until(() => serve(options.queues + 1))
const newQueueMs = performance.now() - madeAt

let jobs = 0
const loaded = await measured(async () => {
  const end = performance.now() + options.loadMs
  await Promise.all(apis.flatMap(api => Array.from({ length: batchesInFlight }, async (_, place) => {
    for (let round = place; performance.now() < end; round += batchesInFlight) {
      // Not `jobs += await`: that forgets what the others have counted meanwhile.
      const ended = await batch(api, queueNames[(round + apis.indexOf(api)) % queueNames.length] ?? '')
      jobs += ended
    }
  })))
})
const report: FleetReport = {
  connections: open,
  idle: { commands: perSecond(atRest.commands), bytes: perSecond(atRest.bytes), processorMs: perSecond(atRest.processorMs) },
  newQueueMs,
  jobs,
  seconds: loaded.seconds,
  load: loaded,
  waitP99Ms: quantile(waits, 0.99)
}
process.send?.(report, () => { process.exit(0) })
