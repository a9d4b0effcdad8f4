import type { DashboardLogins } from '@toolyard/store'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isRecord } from '@toolyard/contract'
import type { FastifyRequest } from 'fastify'
import type { KeyRing } from './key-ring.ts'
import type { Principal } from './principal.ts'

const cookieName = 'toolyard_login'

/** Of a login's cookie; the signature is for who reads it. */
interface Claims {
  id: string
  key: string
  /** End of the login, in milliseconds since 1970 by Redis' clock. */
  end: number
}

export interface Login {
  id: string
  principal: Principal
  /** Seconds that it has left. */
  leftSec: number
}

/** How long a login lasts: a day's work. */
const lastsSec = 8 * 3_600

/**
 * Logins of people, to the console and the dashboard. A login is a signed text in a cookie and nothing else, so that every API
 * process knows it. It is signed with a secret that the processes share, and with the API key itself: when the key is replaced
 * or removed, its logins are over.
 */
export class Logins {
  readonly #store: DashboardLogins
  readonly #keys: KeyRing
  readonly #basePath: string

  constructor (store: DashboardLogins, keys: KeyRing, basePath: string) {
    this.#store = store
    this.#keys = keys
    this.#basePath = basePath
  }

  /** Counts an attempt to log in and says whose the key is; `waitSec` when there were too many. @throws RedisUnavailableError */
  async attempt (request: FastifyRequest, key: string): Promise<{ waitSec: number, principal?: Principal | undefined }> {
    const waitSec = await this.#store.admit(request.ip)
    return waitSec > 0 ? { waitSec } : { waitSec, principal: await this.#keys.find(key) }
  }

  /** Begins a login after an attempt that was good; its `Set-Cookie` header. @throws RedisUnavailableError */
  async begin (request: FastifyRequest, { name, proof }: Principal): Promise<string> {
    await this.#store.succeeded(request.ip)
    const claims: Claims = { id: randomBytes(16).toString('base64url'), key: name, end: this.#store.now() + lastsSec * 1_000 }
    const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return this.#cookie(request, `${body}.${sign([body, name, proof], await this.#store.secret())}`, lastsSec)
  }

  /** The login of a request's `cookie` header; undefined when it has none that is in force. @throws RedisUnavailableError */
  async find (cookies: string | undefined): Promise<Login | undefined> {
    const [body = '', signature = ''] = readCookie(cookies).split('.')
    const claims = readClaims(body)
    if (claims === undefined || claims.end <= this.#store.now()) return undefined
    const [secret, principal] = await Promise.all([this.#store.secretFor(claims.id), this.#keys.named(claims.key)])
    if (secret === undefined || principal === undefined) return undefined
    if (!isSame(signature, sign([body, claims.key, principal.proof], secret))) return undefined
    return { id: claims.id, principal, leftSec: (claims.end - this.#store.now()) / 1_000 }
  }

  /** Ends a login, where there is one, for all API processes; the `Set-Cookie` header that removes it. @throws RedisUnavailableError */
  async end (request: FastifyRequest, login: Login | null): Promise<string> {
    if (login !== null) await this.#store.end(login.id, login.leftSec)
    return this.#cookie(request, '', 0)
  }

  /** Sent by no script and no other site, and over https only where it came over https. */
  #cookie (request: FastifyRequest, text: string, sec: number): string {
    const secure = request.protocol === 'https' ? '; Secure' : ''
    return `${cookieName}=${text}; Path=${this.#basePath === '' ? '/' : this.#basePath}; Max-Age=${sec}; HttpOnly; SameSite=Strict${secure}`
  }
}

function sign (parts: readonly string[], secret: string): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url')
}

function readCookie (cookies = ''): string {
  const found = cookies.split(';').map(cookie => cookie.trim()).find(cookie => cookie.startsWith(`${cookieName}=`))
  return found?.slice(cookieName.length + 1) ?? ''
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
