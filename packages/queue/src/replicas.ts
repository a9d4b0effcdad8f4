import type { Cluster, Redis as Server } from 'ioredis'
import type { BatchedScript, ScriptCall } from './batched-script.ts'
import { ioredis } from './bullmq.ts'
import { writableServers, type Redis } from './connection.ts'

/** How many replicas must have what may not be lost: a number, or `auto` for all that a server has and that keep up with it. */
export type WantedReplicas = number | 'auto'

/** What may not be lost may not be on enough replicas. */
export class ReplicasMissingError extends Error {
  override readonly name = 'ReplicasMissingError'

  constructor (reason: string) {
    super(`Redis has not passed the job on to its replicas: ${reason}`)
  }
}

/** How long replicas may take, in milliseconds: much less than a lock. */
const patienceMs = 1_000
/** How often it is asked how many replicas there are, in milliseconds. */
const lookMs = 2_000
/** A replica that wasn't heard of for longer, in seconds, counts as gone. */
const mostLagSec = 10

/**
 * Sees to it that replicas have what was written, before what depends on it is done (`WAIT`). A replica that becomes the
 * master knows it then.
 *
 * `WAIT` holds up all that comes after it on its connection, so that it has one of its own. A command is never sent again
 * there: after a failover, `WAIT` on the new master would say nothing of what was written on the old one.
 */
export class Replicas {
  readonly #redis: Redis
  readonly #wanted: WantedReplicas
  #found = 0
  #connection: Redis | undefined
  #timer: NodeJS.Timeout | undefined

  /** @param redis the connection whose server has the replicas. */
  constructor (redis: Redis, wanted: WantedReplicas) {
    this.#redis = redis
    this.#wanted = wanted
  }

  /** How many must have it now. */
  get needed (): number {
    return this.#wanted === 'auto' ? this.#found : this.#wanted
  }

  /** Looks how many there are, now and then again and again. */
  async start (): Promise<void> {
    if (this.#wanted !== 'auto') return
    await this.#look()
    this.#timer ??= setInterval(() => { void this.#look() }, lookMs).unref()
  }

  stop (): void {
    clearInterval(this.#timer)
    this.#connection?.disconnect()
  }

  /**
   * Runs a script for calls of one queue and waits until the replicas have what it wrote. It must write for each call whose
   * reply counts: `WAIT` speaks of what its own connection has written.
   *
   * @returns the reply to each call, an Error where there is none.
   * @throws ReplicasMissingError: it may have been written.
   */
  async run (script: BatchedScript, calls: readonly ScriptCall[]): Promise<unknown[]> {
    const { needed } = this
    const connection = this.#connection ??= connectionLike(this.#redis)
    const [replies, acknowledged] = await send(connection, script, calls, needed).catch((error: unknown) => {
      // It may lead to a server that isn't the master any more; a new one doesn't.
      if (this.#connection === connection) this.#connection = undefined
      connection.disconnect()
      throw new ReplicasMissingError((error as Error).message)
    })
    if (Number(acknowledged) >= needed) return replies
    await this.#look()
    throw new ReplicasMissingError(`${String(acknowledged)} of ${needed} have it after ${patienceMs} ms`)
  }

  async #look (): Promise<void> {
    if (this.#wanted !== 'auto' || this.#redis.status !== 'ready') return
    try {
      const infos = await Promise.all(writableServers(this.#redis).map(server => server.info('replication')))
      this.#found = infos.length === 0 ? 0 : Math.min(...infos.map(countReplicas))
    } catch {
      // What was found last holds; the next look comes soon.
    }
  }
}

/** How many replicas a server has that keep up with it, by its `INFO replication`. */
export function countReplicas (info: string): number {
  return [...info.matchAll(/^slave\d+:(.*)$/gm)].filter(([, text = '']) => {
    const fields = new Map(text.trim().split(',').map(field => field.split('=') as [string, string]))
    return fields.get('state') === 'online' && Number(fields.get('lag')) <= mostLagSec
  }).length
}

async function send (connection: Redis, script: BatchedScript, calls: readonly ScriptCall[], needed: number): Promise<[replies: unknown[], acknowledged: unknown]> {
  const pipeline = connection.pipeline()
  script.addTo(pipeline, connection, calls)
  pipeline.call('WAIT', needed, patienceMs)
  const [written, waited] = await pipeline.exec() ?? []
  const error = written?.[0] ?? waited?.[0]
  if (error !== null && error !== undefined) throw error
  return [written?.[1] as unknown[], waited?.[1]]
}

function connectionLike (redis: Redis): Redis {
  const options = { enableOfflineQueue: true, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, reconnectOnError: (error: Error) => /READONLY/.test(error.message) }
  const connection: Server | Cluster = redis instanceof ioredis.Cluster
    ? redis.duplicate([], { redisOptions: { ...redis.options.redisOptions, autoResendUnfulfilledCommands: false } } as never)
    : redis.duplicate(options)
  // The connection that it is made after reports the errors of the server.
  connection.on('error', () => {})
  return connection
}
