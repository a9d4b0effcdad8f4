import { newJobId } from '../redis/job-id.ts'
import { ownerOf } from '../redis/job-scope.ts'
import type { Replicas } from '../redis/checks/replicas.ts'
import type { Redis } from '../redis/connection.ts'
import { BoundedMap } from '../redis/bounded-map.ts'
import { sessionsChannel } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { subscribe } from '../redis/subscription.ts'
import { listScript, makeScript, readScript, runRemoveScript, runSessionScript } from './session-scripts.ts'
import { fromRedis } from '../redis/from-redis.ts'

export interface NewSession {
  /** The tenant of the key that makes it; undefined for the operator's keys. */
  tenant: string | undefined
  keyName: string
  /** Seconds without a call after which it is removed. */
  ttlSec: number
  quotaBytes: number
  /** The template that its directory begins as; undefined for an empty one. */
  from: string | undefined
}

/** A session. Times are milliseconds since 1970 by Redis' clock. */
export interface Session extends NewSession {
  id: string
  state: 'open' | 'removing'
  createdAt: number
  usedAt: number
  /** When it is removed unless it is used before. */
  expiresAt: number
  /** At the last count of its files; undefined before. */
  usedBytes: number | undefined
}

/** Sessions that a tenant may have at once, and that all keys without a tenant may have together. */
export const maxSessions = 10_000
/** How long a process trusts what it knows about a session in use, in milliseconds. Of a removed one it gets a message. */
const trustMs = 1_000

interface KnownSession {
  session: Session | undefined
  readAt: number
  /** How often this process has heard that it is removed. */
  removals: number
}

/** The records of sessions in Redis. All methods throw RedisUnavailableError. See docs/sessions.md. */
export class Sessions {
  readonly #redis: Redis
  readonly #replicas: Replicas | undefined
  readonly #known = new BoundedMap<KnownSession>(() => ({ session: undefined, readAt: -Infinity, removals: 0 }))

  /** @param replicas those that must know that a session is removed before that is said; undefined: none */
  constructor (redis: Redis, replicas?: Replicas) {
    this.#redis = redis
    this.#replicas = replicas
  }

  /** Listens for removed sessions from now on; while Redis is away the subscription waits for it. */
  listen (subscriber: Redis): void {
    subscribe(subscriber, sessionsChannel, id => { this.#forget(id) }).catch(() => {})
  }

  /**
   * Makes a session; `full` when its owner has as many as it may.
   *
   * @param maxBytes what the quotas of its owner's sessions may come to; 0 for any number
   */
  async make (session: NewSession, maxBytes = 0): Promise<Session | 'full' | { bytesLeft: number }> {
    const id = newJobId(serverTime(this.#redis))
    const { tenant = '', keyName, ttlSec, quotaBytes, from = '' } = session
    const record = ['key', keyName, 'ttl', ttlSec, 'from', from]
    const owner = ownerOfSessions(session.tenant)
    const made = await runSessionScript(this.#redis, makeScript, id, tenant, owner, maxSessions, maxBytes, quotaBytes, ...record)
    return typeof made === 'string' ? { bytesLeft: Number(made) } : sessionOf(id, made) ?? 'full'
  }

  /** A session that a tenant may see, without using it; undefined where there is none. */
  async find (id: string, tenant: string | undefined): Promise<Session | undefined> {
    return await this.#read(id, tenant, 'look')
  }

  /** A session that a tenant is about to use, which renews its time to live; undefined where there is none. */
  async use (id: string, tenant: string | undefined): Promise<Session | undefined> {
    const known = this.#known.of(id)
    if (performance.now() - known.readAt <= trustMs && maySee(known.session, tenant)) return known.session
    const askedAt = performance.now()
    const { removals } = known
    const session = await this.#read(id, tenant, 'use')
    if (session?.state === 'open' && known.removals === removals) Object.assign(known, { session, readAt: askedAt })
    return session
  }

  /** Sessions, newest first, and the last id of the page where there may be more. */
  async list (
    { tenant, before, limit }: { tenant: string | undefined, before: string | undefined, limit: number }
  ): Promise<{ sessions: Session[], next: string | undefined }> {
    const owner = tenant === undefined ? '' : ownerOfSessions(tenant)
    const found = fromRedis<Array<[string, unknown]>>(await runSessionScript(this.#redis, listScript, owner, before ?? '', limit + 1))
    const sessions = found.slice(0, limit).flatMap(([id, fields]) => sessionOf(id, fields) ?? [])
    return { sessions, next: found.length > limit ? found[limit - 1]?.[0] : undefined }
  }

  /** Begins to remove a session; undefined where there is none. */
  async remove (id: string, tenant: string | undefined): Promise<Session | undefined> {
    this.#forget(id)
    return sessionOf(id, await runRemoveScript(this.#redis, this.#replicas, id, tenant ?? '', sessionsChannel))
  }

  #forget (id: string): void {
    const known = this.#known.of(id)
    known.readAt = -Infinity
    known.removals += 1
  }

  async #read (id: string, tenant: string | undefined, how: 'look' | 'use'): Promise<Session | undefined> {
    return sessionOf(id, await runSessionScript(this.#redis, readScript, id, tenant ?? '', how, sessionsChannel))
  }
}

/** The operator's keys see all. */
function maySee (session: Session | undefined, tenant: string | undefined): boolean {
  return session !== undefined && (tenant === undefined || session.tenant === tenant)
}

/** All keys without a tenant are one owner. */
function ownerOfSessions (tenant: string | undefined): string {
  return ownerOf({ tenant, keyName: '' })
}

/** Reads the fields of a record in the order of the scripts; undefined where there is none. */
export function sessionOf (id: string, answer: unknown): Session | undefined {
  const [tenant, keyName, ttl, quota, from, created, used, state, bytes]: unknown[] = Array.isArray(answer) ? answer as unknown[] : []
  if (typeof tenant !== 'string' || typeof keyName !== 'string') return undefined
  const usedAt = Number(used)
  return {
    id,
    tenant: tenant === '' ? undefined : tenant,
    keyName,
    ttlSec: Number(ttl),
    quotaBytes: Number(quota),
    from: typeof from === 'string' && from !== '' ? from : undefined,
    state: state === 'open' ? 'open' : 'removing',
    createdAt: Number(created),
    usedAt,
    expiresAt: usedAt + Number(ttl) * 1_000,
    usedBytes: typeof bytes === 'string' ? Number(bytes) : undefined
  }
}
