import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster, Redis as Server } from 'ioredis'
import { asError } from '@toolyard/contract/terms'
import { within } from '@toolyard/runtime'
import type { BatchedScript, ScriptCall, ScriptRun } from '../commands/batched-script.ts'
import { ioredis } from '../ioredis.ts'
import { writableServers, type Redis } from '../connection.ts'
import { duplicateOf } from '../sentinel-watch.ts'
import { required } from '../required.ts'
import { fromRedis } from '../from-redis.ts'
import { asRedisError, RedisUnavailableError, whileAvailable } from '../unavailable.ts'

/** How many replicas must have what must not be lost: a number, or `auto` for all that a server has and that keep up with it. */
export type WantedReplicas = number | 'auto'

/** Data that must not be lost may be on too few replicas. */
export class ReplicasMissingError extends Error {
  override readonly name = 'ReplicasMissingError'

  constructor (reason: string) {
    super(`Redis has not passed the job on to its replicas: ${reason}`)
  }
}

/** How long replicas may take, in milliseconds: much less than a lock. */
const patienceMs = 1_000
/** How long the server may take to answer, in milliseconds: one that hangs would hold up all that comes after. */
const answerMs = patienceMs + 2_000
/** How often it is asked how many replicas there are, in milliseconds. */
const lookMs = 2_000
/** While a cluster moves a slot, its commands are sent again after so many milliseconds. */
const againMs = 50
/** A replica that wasn't heard of for longer, in seconds, counts as gone. */
const mostLagSec = 10

interface Waiting {
  runs: readonly ScriptRun[]
  resolve: (replies: unknown[][]) => void
  reject: (error: unknown) => void
  /** Until when it is sent again while a cluster puts it off, by `performance.now()`. */
  until: number
}

/**
 * Sees to it that replicas have what was written, before the work goes on that depends on it (`WAIT`). A replica that
 * becomes the master knows it then. What comes while a `WAIT` is under way is sent together, with one `WAIT`; in a
 * cluster, each queue has a line of its own. See docs/decisions/0026-beginning-on-replica.md.
 *
 * `WAIT` delays all later commands of its connection, so it has one of its own. A command is never sent again there:
 * after a failover, `WAIT` on the new master would say nothing of what was written on the old one.
 */
export class Replicas {
  readonly #redis: Redis
  readonly #wanted: WantedReplicas
  #found = 0
  readonly #heard: HeardReplicas = new Map()
  #connection: Redis | undefined
  readonly #lines = new Map<string, Waiting[]>()
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

  /** Counts the replicas, at once and then every two seconds. */
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
   * Runs scripts for calls of one queue and waits until the replicas have what they wrote. They must write for each call
   * whose reply counts: `WAIT` speaks of what its own connection has written.
   *
   * @returns for each run the reply to each call, an Error where there is none.
   * @throws ReplicasMissingError, after which it may have been written; what Redis says to all of the runs.
   */
  async run (runs: readonly ScriptRun[]): Promise<unknown[][]> {
    return await new Promise((resolve, reject) => {
      const line = this.#redis instanceof ioredis.Cluster ? slotOf(runs) : ''
      const waiting = this.#lines.get(line)
      if (waiting !== undefined) {
        waiting.push({ runs, resolve, reject, until: performance.now() + patienceMs })
        return
      }
      this.#lines.set(line, [{ runs, resolve, reject, until: performance.now() + patienceMs }])
      process.nextTick(() => { void this.#sendAll(line) })
    })
  }

  async #sendAll (line: string): Promise<void> {
    for (;;) {
      const sent = this.#lines.get(line) ?? []
      if (sent.length === 0) break
      this.#lines.set(line, [])
      try {
        const again = await this.#send(sent)
        if (again.length === 0) continue
        await delay(againMs)
        this.#lines.get(line)?.unshift(...again)
      } catch (error) {
        for (const { reject } of sent) reject(error)
      }
    }
    this.#lines.delete(line)
  }

  /** @returns those that a cluster put off because it moves their slot. They were not run at all. */
  async #send (sent: readonly Waiting[]): Promise<Waiting[]> {
    const { needed } = this
    const connection = this.#connection ??= connectionLike(this.#redis)
    const all = sent.flatMap(({ runs }) => runs)
    for (const { script } of all) script.define(connection)
    const pipeline = connection.pipeline()
    for (const { script, calls, shared } of all) script.addTo(pipeline, calls, shared)
    pipeline.call('WAIT', needed, patienceMs)
    const answering = pipeline.exec().catch((error: unknown) => [[asError(error)]] as Array<[Error]>)
    const answers = await within(answerMs, answering) ?? [[new Error(`no answer within ${answerMs} ms`)]]
    const [failure, acknowledged] = answers.pop() ?? []
    if (failure instanceof Error || answers.some(([error]) => error !== null)) {
      // It may lead to a server that isn't the master any more; a new one doesn't.
      if (this.#connection === connection) this.#connection = undefined
      connection.disconnect()
    }
    if (failure instanceof Error) throw new ReplicasMissingError(failure.message)
    if (Number(acknowledged) < needed) {
      await this.#look()
      throw new ReplicasMissingError(`${String(acknowledged)} of ${needed} have it after ${patienceMs} ms`)
    }
    const again: Waiting[] = []
    for (const one of sent) {
      const own = answers.splice(0, one.runs.length)
      const errors = own.flatMap(([error]) => error === null ? [] : [error])
      // The results of one command count, even when another one fails.
      const replies = one.runs.map(({ calls }, place) => {
        const [error, each] = own[place] ?? []
        return error instanceof Error ? calls.map(() => error) : fromRedis<unknown[]>(each)
      })
      if (errors.length < own.length) one.resolve(replies)
      else if (errors.every(isPutOff) && performance.now() < one.until) again.push(one)
      else one.reject(errors[0])
    }
    return again
  }

  async #look (): Promise<void> {
    if (this.#wanted !== 'auto' || this.#redis.status !== 'ready') return
    try {
      const infos = await Promise.all(writableServers(this.#redis).map(server => server.info('replication')))
      this.#found = infos.length === 0 ? 0 : Math.min(...infos.map(info => countReplicas(info, this.#heard)))
    } catch {
      // The last result is used; the next look comes soon.
    }
  }
}

/**
 * Runs a script whose effect no failover may undo: replicas have it before its reply is given, where they are wanted. It must
 * write, whatever its reply: `WAIT` speaks of what its own connection has written.
 *
 * @throws RedisUnavailableError, after which it may have been done, and may be undone; RedisFullError, after which it was not
 */
export async function runForGood (redis: Redis, replicas: Replicas | undefined, script: BatchedScript, call: ScriptCall): Promise<unknown> {
  try {
    const waits = replicas !== undefined && replicas.needed > 0
    const [reply] = waits
      ? (await whileAvailable(replicas.run([{ script, calls: [call] }])))[0] ?? []
      : await whileAvailable(script.run(redis, [call]))
    if (reply instanceof Error) throw asRedisError(reply)
    return reply
  } catch (error) {
    throw error instanceof ReplicasMissingError ? new RedisUnavailableError(error) : error
  }
}

/** ioredis sends a single command again, but no pipeline whose `WAIT` was answered. */
function isPutOff ({ message }: Error): boolean {
  return /^(?:TRYAGAIN|ASK|MOVED|CLUSTERDOWN)\b/.test(message)
}

/** When each replica was last heard of by its master, by `performance.now()`. */
type HeardReplicas = Map<string, number>

/**
 * How many replicas a server has that keep up with it, by its `INFO replication`. One that has just been lost counts as one that
 * hangs: it may be about to take over.
 *
 * @param heard what it has told before
 */
export function countReplicas (info: string, heard: HeardReplicas, now = performance.now()): number {
  const master = /^master_replid:(\w+)/m.exec(info)?.[1]
  for (const [, text = ''] of info.matchAll(/^slave\d+:(.*)$/gm)) {
    const fields = new Map(text.trim().split(',').map(field => { const [name = '', value = ''] = field.split('='); return [name, value] }))
    if (fields.get('state') === 'online') heard.set(`${master} ${fields.get('ip')} ${fields.get('port')}`, now - 1_000 * Number(fields.get('lag')))
  }
  for (const [replica, at] of heard) if (now - at > 1_000 * mostLagSec) heard.delete(replica)
  return [...heard.keys()].filter(replica => replica.startsWith(`${master} `)).length
}

/** All keys of a queue have one hash tag. */
function slotOf ([first]: readonly ScriptRun[]): string {
  const key = required(first?.shared?.keys[0] ?? first?.calls[0]?.keys[0], 'the key of a script')
  return /\{[^}]*\}/.exec(key)?.[0] ?? key
}

function connectionLike (redis: Redis): Redis {
  const options = { enableOfflineQueue: true, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, reconnectOnError: (error: Error) => /READONLY/.test(error.message) }
  const connection: Server | Cluster = redis instanceof ioredis.Cluster
    ? redis.duplicate(
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Two types of options differ by the type of replies.
        [], { enableOfflineQueue: true, redisOptions: { ...redis.options.redisOptions, autoResendUnfulfilledCommands: false } } as never
      )
    : duplicateOf(redis, options)
  // The connection that it is made after reports the errors of the server.
  connection.on('error', () => {})
  return connection
}
