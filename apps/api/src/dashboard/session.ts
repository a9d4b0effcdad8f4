import type { DashboardLogins } from '@toolyard/queue'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isRecord } from '@toolyard/contract'
import type { KeyRing } from '../access/key-ring.ts'
import type { Principal } from '../access/principal.ts'

/** Name of the cookie that holds a session. */
export const sessionCookie = 'toolyard_dashboard'

/** What a session's cookie says; the signature is for who reads it. */
interface Claims {
  id: string
  /** Name of the API key. */
  key: string
  /** End of the session, in milliseconds since 1970 by Redis' clock. */
  end: number
}

/** A session in force. */
export interface Session {
  id: string
  principal: Principal
  /** Seconds that it has left. */
  leftSec: number
}

/**
 * Sessions of the dashboard. A session is a signed text in a cookie and nothing else, so that every API process knows
 * it. It is signed with a secret that the processes share, and with the API key itself: when the key is replaced or
 * removed, its sessions are over.
 */
export class Sessions {
  readonly #logins: DashboardLogins
  readonly #keys: KeyRing
  readonly #ttlSec: number

  constructor (logins: DashboardLogins, keys: KeyRing, ttlSec: number) {
    this.#logins = logins
    this.#keys = keys
    this.#ttlSec = ttlSec
  }

  /**
   * Begins a session for an admin key; the text is for the cookie.
   *
   * @throws RedisUnavailableError
   */
  async begin ({ name, proof }: Principal): Promise<{ text: string, sec: number }> {
    const claims: Claims = { id: randomBytes(16).toString('base64url'), key: name, end: this.#logins.now() + this.#ttlSec * 1_000 }
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return { text: `${body}.${sign([body, name, proof], await this.#logins.secret())}`, sec: this.#ttlSec }
  }

  /**
   * The session of a request's `cookie` header; undefined when it has none that is in force.
   *
   * @throws RedisUnavailableError
   */
  async find (cookies: string | undefined): Promise<Session | undefined> {
    const [body = '', signature = ''] = readCookie(cookies).split('.')
    const claims = readClaims(body)
    if (claims === undefined || claims.end <= this.#logins.now()) return undefined
    const [secret, principal] = await Promise.all([this.#logins.secretFor(claims.id), this.#keys.named(claims.key)])
    if (secret === undefined || principal?.role !== 'admin') return undefined
    if (!isSame(signature, sign([body, claims.key, principal.proof], secret))) return undefined
    return { id: claims.id, principal, leftSec: (claims.end - this.#logins.now()) / 1_000 }
  }

  /**
   * Ends a session for all API processes.
   *
   * @throws RedisUnavailableError
   */
  async end (session: Session): Promise<void> {
    await this.#logins.end(session.id, session.leftSec)
  }
}

function sign (parts: readonly string[], secret: string): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url')
}

function readCookie (cookies = ''): string {
  const found = cookies.split(';').map(cookie => cookie.trim()).find(cookie => cookie.startsWith(`${sessionCookie}=`))
  return found?.slice(sessionCookie.length + 1) ?? ''
}

/** Anybody can send anything: what is read here counts only with its signature. */
function readClaims (body: string): Claims | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString())
    const { id, key, end } = isRecord(claims) ? claims : {}
    return typeof id === 'string' && /^[\w-]{22}$/.test(id) && typeof key === 'string' && typeof end === 'number' ? { id, key, end } : undefined
  } catch {
    return undefined
  }
}

function isSame (given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
