import type { Redis as Server } from 'ioredis'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { within } from '@toolyard/runtime'
import { duplicateOf, ioredis, type Redis, goOnWhenFull, waitKey } from '@toolyard/store'

/** One command waits for so many seconds: by its end the connection is known to live. */
const longestSec = 5
/** The shortest wait that Redis knows, in seconds. */
const shortestSec = 0.001
/** An answer may come so many milliseconds late, else the connection is replaced. */
const lateMs = 1_000
/** Between two tries where Redis refuses to wait, in milliseconds. */
const againMs = 500
/** The end of a wait is gone after so many milliseconds, where the process has died. */
const endMs = 60_000

/** KEYS: a marker. ARGV: its score and member; the milliseconds that it is kept for, or nothing. */
const markScript = `
${goOnWhenFull('KEYS[1]')}
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 0
`

/** Wakes a worker of a queue: the score is 0, or when a delayed job is due. */
export interface Marker {
  member: string
  score: number
}

interface Waiting {
  end: (marker: Marker | undefined) => void
  /** By `performance.now()`. */
  until: number
}

/** A queue whose marker is asked for: also between two waits, so that the next one needs no other command. */
type Asked = Waiting | 'between'

/**
 * Waits for the markers of all queues that a process serves, over one connection. A queue whose key the running command
 * doesn't have ends that command, by a marker of the process' own; the next command has all keys. It isn't for a Cluster,
 * where one command can't have the keys of several queues: docs/decisions/0086-idle-workers.md.
 */
export class SharedWait {
  readonly #redis: Server
  readonly #onError: (error: Error) => void
  readonly #ownMarker = waitKey(randomUUID())
  /** By the keys of their markers, those that were answered last at the end. */
  readonly #queues = new Map<string, Asked>()
  #connection: Server | undefined
  /** The markers that the command asks for, and until when it runs. */
  #asked: ReadonlySet<string> = new Set()
  #askedUntil = 0
  #isRunning = false
  #isToEnd = false
  #isStopped = false

  constructor (redis: Server, onError: (error: Error) => void) {
    this.#redis = redis
    this.#onError = onError
  }

  /** Waits for a marker, which is taken; undefined after so many seconds, and when `leave` is called. */
  async wait (marker: string, seconds: number): Promise<Marker | undefined> {
    if (this.#isStopped) return undefined
    return await new Promise(resolve => {
      const until = performance.now() + 1_000 * seconds
      this.#queues.set(marker, { end: resolve, until })
      if (!this.#isRunning) void this.#run()
      else if (!this.#asked.has(marker) || until < this.#askedUntil) this.#endCommand()
    })
  }

  /** Ends the wait for a marker. */
  leave (marker: string): void {
    const asked = this.#queues.get(marker)
    this.#queues.delete(marker)
    if (asked !== undefined && asked !== 'between') asked.end(undefined)
  }

  /** Ends all waits, and the connection. */
  stop (): void {
    this.#isStopped = true
    for (const marker of this.#queues.keys()) this.leave(marker)
    this.#drop()
  }

  async #run (): Promise<void> {
    this.#isRunning = true
    // Those who begin to wait in this turn of the event loop are asked for with the first command.
    await Promise.resolve()
    while (this.#queues.size > 0) {
      try {
        const found = await this.#ask()
        if (found !== undefined && found.key !== this.#ownMarker) await this.#answer(found.key, found.marker)
      } catch (error) {
        this.#drop()
        if (this.#queues.size > 0) this.#onError(asError(error))
        await delay(againMs)
      }
      const now = performance.now()
      for (const [marker, asked] of this.#queues) if (asked !== 'between' && asked.until <= now) this.#end(marker, asked)
    }
    this.#isRunning = false
  }

  /** The first marker that is there; undefined after a while. */
  async #ask (): Promise<{ key: string, marker: Marker } | undefined> {
    const now = performance.now()
    const firstSec = (Math.min(...[...this.#queues.values()].map(asked => asked === 'between' ? Infinity : asked.until)) - now) / 1_000
    const seconds = Math.max(shortestSec, Math.min(longestSec, firstSec))
    this.#asked = new Set(this.#queues.keys())
    this.#askedUntil = now + 1_000 * seconds
    this.#isToEnd = false
    const found = await within(1_000 * seconds + lateMs, this.#open().bzpopmin(this.#ownMarker, ...this.#asked, seconds))
    if (found === undefined) throw new Error('Redis does not answer the connection that waits for jobs')
    return found === null ? undefined : { key: found[0], marker: { member: found[1], score: Number(found[2]) } }
  }

  /** Its connection: what breaks off is repeated once Redis is back. */
  #open (): Server {
    if (this.#connection !== undefined) return this.#connection
    const connection = duplicateOf(this.#redis, { connectionName: 'toolyard-wait', maxRetriesPerRequest: null })
    // The process' other connections say what is wrong with Redis.
    connection.on('error', () => {})
    this.#connection = connection
    return connection
  }

  #drop (): void {
    this.#connection?.disconnect()
    this.#connection = undefined
  }

  /** A queue that doesn't wait may have no place: other processes get its marker, and it is asked for at its next wait. */
  async #answer (key: string, marker: Marker): Promise<void> {
    const asked = this.#queues.get(key)
    if (asked !== undefined && asked !== 'between') {
      this.#end(key, asked, marker)
      return
    }
    this.#queues.delete(key)
    await this.#mark(key, marker)
  }

  #end (key: string, waiting: Waiting, marker?: Marker): void {
    this.#queues.delete(key)
    this.#queues.set(key, 'between')
    waiting.end(marker)
  }

  /** Ends the command that runs: another one asks for more, or for less long. */
  #endCommand (): void {
    if (this.#isToEnd) return
    this.#isToEnd = true
    this.#mark(this.#ownMarker, { member: '0', score: 0 }, endMs).catch(this.#onError)
  }

  async #mark (key: string, { member, score }: Marker, ms?: number): Promise<void> {
    await this.#redis.eval(markScript, 1, key, score, member, ...(ms === undefined ? [] : [ms]))
  }
}

/** The wait of a process over a connection like this one; undefined for a Cluster. */
export function openSharedWait (redis: Redis, onError: (error: Error) => void): SharedWait | undefined {
  return redis instanceof ioredis.Cluster ? undefined : new SharedWait(redis, onError)
}
