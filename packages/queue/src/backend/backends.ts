import type { JobData, OutputRecord } from '@toolyard/contract'
import type { Processor, Queue, QueueBaseOptions, RedisConnection, WorkerOptions } from 'bullmq'
import { type Redis, internalName, keyPrefix } from '@toolyard/store'
import { bullmq } from '../record/bullmq.ts'
import { maxLostRuns } from '../record/settlement.ts'
import { JobBackend, type JobBackendParts } from './job-backend.ts'
import { JobWorker } from './job-worker.ts'
import { lookGuardMs } from './lock-times.ts'
import { lockMs } from './timed/lock-renewal.ts'
import { clientOn } from './timed/timed-backend.ts'

export type JobQueue = Queue<JobData, OutputRecord, string, JobData, OutputRecord, string, JobBackend>

export function listenOn (redis: Redis): RedisConnection {
  const listening = new bullmq.RedisConnection(clientOn(redis), { shared: true, skipVersionCheck: true })
  // The connection reports its own errors; without a listener of its own, one would end the process.
  listening.on('error', () => {})
  return listening
}

export interface BackendParts extends JobBackendParts {
  /** For any number of queues: what all of them listen with; without it, each listens by itself. */
  listening?: RedisConnection
}

type BackendMaker = (name: string, options: QueueBaseOptions, blocking?: { withBlockingConnection?: boolean }) => JobBackend

export function backendOn ({ listening, ...parts }: BackendParts): BackendMaker {
  const { redis } = parts
  return (name, options, { withBlockingConnection = false } = {}) => {
    const client = clientOn(redis)
    const connection = listening ?? listenOn(redis)
    const keys = new bullmq.QueueKeys(keyPrefix)
    const blocking = withBlockingConnection && parts.wait === undefined
      ? new bullmq.RedisConnection(client.duplicate(), { blocking: true, skipVersionCheck: true })
      : undefined
    const given = { lockDuration: lockMs, ...lookForLost, ...options }
    return new JobBackend(
      parts, connection, name, keys.getKeys(name), (type: string) => keys.toKey(name, type), given, blocking, listening === undefined
    )
  }
}

/** What BullMQ's script that looks for lost jobs is told, whoever runs it. */
const lookForLost = { stalledInterval: lookGuardMs, maxStalledCount: maxLostRuns }

/** What a worker takes at once, and how it holds a job, in milliseconds. */
export interface WorkerLimits {
  concurrency: number
  renewMs: number
  /** Stands in the jobs that it takes; undefined: nothing does. */
  name?: string | undefined
}

/**
 * A worker that waits looks for a job after so many seconds at the latest. By its end, a wait on a connection of its own
 * shows that the connection lives; a wait that queues share does that by itself.
 */
const lookSec = { own: 5, shared: 60 }

/** Makes the worker of a queue; it is started by `run`. */
export function openWorker (
  parts: BackendParts, queue: string, process: Processor<JobData, OutputRecord>,
  { concurrency, renewMs, name }: WorkerLimits
): JobWorker<JobData, OutputRecord> {
  const options: WorkerOptions = {
    autorun: false,
    connection: parts.redis,
    prefix: keyPrefix,
    concurrency,
    lockDuration: lockMs,
    lockRenewTime: renewMs,
    // One process looks for the lost jobs of all: see `recover`.
    skipStalledCheck: true,
    ...lookForLost,
    runRetryDelay: 500,
    drainDelay: parts.wait === undefined ? lookSec.own : lookSec.shared,
    skipVersionCheck: true,
    ...(name === undefined ? {} : { name })
  }
  return new JobWorker(internalName(queue), process, options, backendOn(parts))
}

/** Opens a queue. Opening writes nothing to Redis, and the queue needs no closing. */
export function openQueue (redis: Redis, queue: string, backendOf: BackendMaker): JobQueue {
  const opened: JobQueue = new bullmq.Queue(
    internalName(queue), { connection: redis, prefix: keyPrefix, skipVersionCheck: true, skipMetasUpdate: true }, backendOf
  )
  // The connection reports its own errors.
  opened.on('error', () => {})
  return opened
}
