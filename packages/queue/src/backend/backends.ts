import type { JobData, OutputRecord } from '@toolyard/contract'
import type { Queue, QueueBaseOptions, RedisConnection } from 'bullmq'
import type { Redis as Server } from 'ioredis'
import { bullmq, ioredis } from '../redis/bullmq.ts'
import type { Redis } from '../redis/connection.ts'
import { JobBackend, type JobBackendParts } from './job-backend.ts'
import { internalName, keyPrefix } from '../redis/names.ts'
import { WaitingTake } from './waiting-take.ts'

/** BullMQ's queue. */
export type JobQueue = Queue<JobData, OutputRecord, string, JobData, OutputRecord, string, JobBackend>

/** What BullMQ listens with to an open connection. */
export function listenOn (redis: Redis): RedisConnection {
  const listening = new bullmq.RedisConnection(bullmq.createIORedisClient(redis as Server), { shared: true, skipVersionCheck: true })
  // The connection reports its own errors; without a listener of its own, one would end the process.
  listening.on('error', () => {})
  return listening
}

/** What backends are made with. */
export interface BackendParts extends Pick<JobBackendParts, 'retention' | 'replicas'> {
  /** An open connection. */
  redis: Redis
  /** For any number of queues: what all of them listen with; without it, each listens by itself. */
  listening?: RedisConnection
}

/** Makes the backends of BullMQ's queues and workers. */
export function backendOn ({ redis, retention, replicas, listening }: BackendParts): (name: string, options: QueueBaseOptions, blocking?: { withBlockingConnection?: boolean }) => JobBackend {
  return (name, options, { withBlockingConnection = false } = {}) => {
    const client = bullmq.createIORedisClient(redis as Server)
    const connection = listening ?? listenOn(redis)
    const keys = new bullmq.QueueKeys(keyPrefix)
    const backendWith = (waiting?: WaitingTake, blocking?: RedisConnection): JobBackend => (
      new JobBackend({ redis, waiting, retention, replicas }, connection, name, keys.getKeys(name), type => keys.toKey(name, type), options, blocking, listening === undefined)
    )
    if (!withBlockingConnection) return backendWith()
    const blockingClient = client.duplicate({ connectionName: `${keyPrefix}:${Buffer.from(name).toString('base64')}` })
    const waitingWith = (waiting?: WaitingTake): JobBackend => backendWith(waiting, new bullmq.RedisConnection(blockingClient, { blocking: true, skipVersionCheck: true }))
    // A cluster's client sends commands again by itself, each on its own: two don't stay together when a server is lost.
    if (redis instanceof ioredis.Cluster) return waitingWith()
    const waiting = new WaitingTake(blockingClient as Redis)
    Object.assign(blockingClient, { bzpopmin: async (marker: string, timeoutSec: number) => await waiting.wait(marker, timeoutSec) })
    return waitingWith(waiting)
  }
}

/** Opens a queue, which writes nothing of its own into Redis, and holds nothing that would have to be closed. */
export function openQueue (redis: Redis, queue: string, backendOf: ReturnType<typeof backendOn>): JobQueue {
  const opened: JobQueue = new bullmq.Queue(internalName(queue), { connection: redis, prefix: keyPrefix, skipVersionCheck: true, skipMetasUpdate: true }, backendOf)
  // The connection reports its own errors.
  opened.on('error', () => {})
  return opened
}
