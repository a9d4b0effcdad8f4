import { randomUUID } from 'node:crypto'
import type { CallError } from '@toolyard/contract/terms'
import { sharedAbort } from '@toolyard/runtime'
import type { Redis } from '../redis/connection.ts'
import { sessionsChannel } from '../redis/names.ts'
import { subscribe } from '../redis/subscription.ts'
import { RedisUnavailableError } from '../redis/unavailable.ts'
import { enterScript, forgetScript, removableScript, renewScript, runSessionScript } from './session-scripts.ts'
import { sessionOf, type Session } from './sessions.ts'
import { fromRedis } from '../redis/from-redis.ts'

/*
 * A process that works in the directory of a session has a lease of it, for all of its calls there, by Redis' clock. The
 * directory is removed only when no process has one. A lease is renewed every second, which renews the session's time to live
 * as well, and is given up when the process has had no call there for a second. The process counts from before it asked, by
 * its own clock: where Redis doesn't answer it in time, its calls there end before anybody may remove the directory.
 */

/** A call's stay in a session. */
export interface SessionStay {
  session: Session
  /** Aborted with a CallError when the session is removed, or may be. */
  signal: AbortSignal
  /** Notes what its files take, for who reads the session. */
  noteUsage: (bytes: number) => void
  leave: () => void
}

/** How long a lease lasts without a renewal, in milliseconds: longer than a job's lock, so that its call has ended. */
const leaseMs = 10_000
const renewMs = 1_000
/** So long before a lease ends its calls are ended, in milliseconds. */
const endMs = 2_000
/** Sessions that one look for those to be removed handles. */
const batchSize = 100

interface Held {
  session: Session
  controller: AbortController
  calls: number
  /** Until when the lease lasts at least, by `performance.now()`. */
  until: number
  /** Not to be entered any more. */
  isClosed: boolean
  bytes: number | undefined
}

/** The leases of one process. */
export class SessionLeases {
  readonly #redis: Redis
  readonly #holder = randomUUID()
  readonly #held = new Map<string, Held>()
  #timer: NodeJS.Timeout | undefined

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** Listens for removed sessions and renews the leases of this process, until `stop`. */
  start (subscriber: Redis, onRemoved: (id: string) => void = () => {}): void {
    subscribe(subscriber, sessionsChannel, id => {
      this.#close(id)
      onRemoved(id)
    }).catch(() => {})
    this.#schedule()
  }

  stop (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /**
   * Begins a stay in a session; undefined where there is none that takes calls, or it is another tenant's.
   *
   * @param tenant of who calls; undefined for the operator, who may use all.
   * @throws RedisUnavailableError
   */
  async enter (id: string, tenant: string | undefined): Promise<SessionStay | undefined> {
    this.#endOverdue()
    const held = this.#held.get(id) ?? await this.#take(id)
    if (held === undefined || held.isClosed || (tenant !== undefined && held.session.tenant !== tenant)) return undefined
    held.calls += 1
    let stays = true
    return {
      session: held.session,
      signal: held.controller.signal,
      noteUsage: bytes => { held.bytes = bytes },
      leave: () => {
        if (stays) held.calls -= 1
        stays = false
      }
    }
  }

  /** Marks sessions whose time is over, and finds those without a lease, whose files are to be removed. */
  async removable (): Promise<string[]> {
    return fromRedis(await runSessionScript(this.#redis, removableScript, batchSize, sessionsChannel))
  }

  /** Forgets sessions whose files can't be reached any more. */
  async forget (ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await runSessionScript(this.#redis, forgetScript, ...ids)
  }

  async #take (id: string): Promise<Held | undefined> {
    const until = performance.now() + leaseMs
    const entered = await runSessionScript(this.#redis, enterScript, id, this.#holder, leaseMs, sessionsChannel)
    const known = this.#held.get(id)
    if (known !== undefined) return known
    if (until - endMs <= performance.now()) throw new RedisUnavailableError()
    const session = sessionOf(id, entered)
    if (session === undefined) return undefined
    const held = { session, controller: sharedAbort(), calls: 0, until, isClosed: session.state !== 'open', bytes: undefined }
    if (!held.isClosed) this.#held.set(id, held)
    return held
  }

  #schedule (): void {
    this.#timer = setTimeout(() => {
      this.#endOverdue()
      // An answer that doesn't come holds up no other renewal.
      void this.#renew().catch(() => {})
      this.#schedule()
    }, renewMs).unref()
  }

  #endOverdue (): void {
    const now = performance.now()
    for (const [id, held] of this.#held) {
      if (held.until - endMs > now) continue
      this.#held.delete(id)
      end(held, { code: 'WORKER_LOST', message: `Redis did not answer in time, and session ${id} may be removed meanwhile` })
    }
  }

  /** One command for all leases. It also finds sessions whose removal this process has missed. */
  async #renew (): Promise<void> {
    if (this.#held.size === 0) return
    const asked = [...this.#held].map(([id, held]) => {
      const left = held.calls === 0
      // Who enters meanwhile takes it anew.
      if (left) this.#held.delete(id)
      return { id, held, args: [id, left ? 'leave' : 'stay', held.bytes ?? ''] }
    })
    const until = performance.now() + leaseMs
    const renewed = await runSessionScript(this.#redis, renewScript, this.#holder, leaseMs, ...asked.flatMap(({ args }) => args))
    const removed = fromRedis<string[]>(renewed)
    for (const { held } of asked) held.until = Math.max(held.until, until)
    for (const id of removed) this.#close(id)
  }

  #close (id: string): void {
    const held = this.#held.get(id)
    if (held !== undefined) end(held, goneError(id))
  }
}

function end (held: Held, reason: CallError): void {
  if (held.isClosed) return
  held.isClosed = true
  held.controller.abort(reason)
}

/** The error of a call whose session doesn't exist, or not any more. */
export function goneError (id: string): CallError {
  return { code: 'SESSION_GONE', message: `Session ${id} is not there any more: it was removed, or its time to live ended` }
}
