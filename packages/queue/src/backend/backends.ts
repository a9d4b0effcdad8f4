import type { JobData, OutputRecord } from '@toolyard/contract'
import type { AdvancedOptions, QueueBaseOptions, RedisConnection } from 'bullmq'
import type { Redis as Server } from 'ioredis'
import { type Redis, internalName, keyPrefix } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import { maxLostRuns } from '../record/settlement.ts'
import { JobBackend, type JobBackendParts } from './job-backend.ts'
import type { WorkerQueue } from './job-taker.ts'
import { JobWorker, type JobWorkerOptions } from './job-worker.ts'
import { lockMs } from './lock-renewal.ts'
import { lookGuardMs } from './lock-times.ts'

export type JobQueue = WorkerQueue<JobData, OutputRecord>

export function listenOn (redis: Redis): RedisConnection {
  const listening = new bullmq.RedisConnection(clientOn(redis), { shared: true, skipVersionCheck: true })
  // The connection reports its own errors; without a listener of its own, one would end the process.
  listening.on('error', () => {})
  return listening
}

interface BackendParts extends JobBackendParts {
  /** For any number of queues: what all of them listen with; without it, each listens by itself. */
  listening?: RedisConnection
}

type BackendMaker = (name: string, options: QueueBaseOptions) => JobBackend

/** @param isForWorker whether it waits for jobs */
export function backendOn ({ listening, ...parts }: BackendParts, isForWorker = false): BackendMaker {
  const { redis, wait, workerName, holding = { lockMs, maxLost: maxLostRuns, guardMs: lookGuardMs } } = parts
  return (name, options) => {
    const client = clientOn(redis)
    const connection = listening ?? listenOn(redis)
    const keys = new bullmq.QueueKeys(keyPrefix)
    const blocking = isForWorker && wait === undefined
      ? new bullmq.RedisConnection(client.duplicate(), { blocking: true, skipVersionCheck: true })
      : undefined
    const held = { lockDuration: holding.lockMs, maxStalledCount: holding.maxLost, stalledInterval: holding.guardMs, name: workerName }
    const toKey = (type: string): string => keys.toKey(name, type)
    return new JobBackend(parts, connection, name, keys.getKeys(name), toKey, { ...held, ...options }, blocking, listening === undefined)
  }
}

/**
 * A worker that waits looks for a job after so many seconds at the latest. By its end, a wait on a connection of its own
 * shows that the connection lives; a wait that queues share does that by itself.
 */
const lookSec = { own: 5, shared: 60 }

/** Makes the worker of a queue. */
export function openWorker<Data, Result> (
  parts: BackendParts, queue: string, options: Omit<JobWorkerOptions<Data, Result>, 'lockMs' | 'lookSec'>, settings: AdvancedOptions = {}
): JobWorker<Data, Result> {
  const { redis, wait, holding = { lockMs } } = parts
  const opened = openAny<Data, Result>(redis, queue, backendOn(parts, true), settings)
  return new JobWorker(opened, { ...options, lockMs: holding.lockMs, lookSec: wait === undefined ? lookSec.own : lookSec.shared })
}

/** Opens a queue. Opening writes nothing to Redis, and the queue needs no closing. */
export function openQueue (redis: Redis, queue: string, backendOf: BackendMaker): JobQueue {
  const opened = openAny<JobData, OutputRecord>(redis, queue, backendOf)
  // The connection reports its own errors.
  opened.on('error', () => {})
  return opened
}

function openAny<Data, Result> (
  redis: Redis, queue: string, backendOf: BackendMaker, settings: AdvancedOptions = {}
): WorkerQueue<Data, Result> {
  const options = { connection: redis, prefix: keyPrefix, skipVersionCheck: true, skipMetasUpdate: true, settings }
  return new bullmq.Queue(internalName(queue), options, backendOf)
}

function clientOn (redis: Redis): ReturnType<typeof bullmq.createIORedisClient<Server>> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- BullMQ takes clusters as well; its types don't say so.
  return bullmq.createIORedisClient(redis as Server)
}
