import { asError } from '@toolyard/contract'
import type { createLocalJWKSet, CryptoKey, JSONWebKeySet } from 'jose'

type KeySet = ReturnType<typeof createLocalJWKSet>

/** The issuer can't be asked for its keys, or answers nonsense. */
class IssuerUnavailableError extends Error {
  override readonly name = 'IssuerUnavailableError'
}

const most = { ms: 5_000, bytes: 262_144 }
/** After a failure the issuer isn't asked again for this long, in milliseconds, whatever clients send. */
const restMs = 5_000
/** How long keys are taken for current, and how often unknown ones may be asked for, in milliseconds. */
const currentMs = 600_000
const askedAgainMs = 30_000

/** The public keys of an OAuth issuer, which its metadata leads to. They are asked for when the first token comes. */
export class IssuerKeys {
  readonly #issuer: string
  #address: URL | undefined
  /** `readAt` is by the process's monotonic clock: the other one may be set back, and the keys would never be old. */
  #keys: { set: KeySet, readAt: number } | undefined
  #reading: Promise<KeySet> | undefined
  #failure: { error: IssuerUnavailableError, until: number } | undefined

  constructor (issuer: string) {
    this.#issuer = issuer
  }

  /** Finds the key that a token names. @throws IssuerUnavailableError; an error of jose for a token without a key. */
  async find (...token: Parameters<KeySet>): Promise<CryptoKey> {
    const { errors } = await import('jose')
    const set = await this.#readWithin(currentMs)
    try {
      return await set(...token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const now = await this.#readWithin(askedAgainMs)
      if (now === set) throw error
      return await now(...token)
    }
  }

  /** The keys, read no longer ago than this. */
  async #readWithin (ms: number): Promise<KeySet> {
    if (this.#keys !== undefined && performance.now() - this.#keys.readAt < ms) return this.#keys.set
    this.#reading ??= this.#guarded(() => this.#read()).finally(() => { this.#reading = undefined })
    return await this.#reading
  }

  async #read (): Promise<KeySet> {
    const { createLocalJWKSet } = await import('jose')
    const address = this.#address ?? await this.#keysAddress()
    // They may be elsewhere the next time, if this fails.
    this.#address = undefined
    const answer = await read(address.href)
    if (!isKeySet(answer)) throw new Error(`${address.href} is no set of keys`)
    const set = createLocalJWKSet(answer)
    this.#address = address
    this.#keys = { set, readAt: performance.now() }
    return set
  }

  async #keysAddress (): Promise<URL> {
    const reasons: string[] = []
    for (const url of metadataAddresses(this.#issuer)) {
      try {
        return keysAddressIn(await read(url), this.#issuer)
      } catch (error) {
        reasons.push(`${url}: ${asError(error).message}`)
      }
    }
    throw new Error(reasons.join('; '))
  }

  /** Asks the issuer, unless that has just failed. */
  async #guarded<T> (ask: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined && performance.now() < this.#failure.until) throw this.#failure.error
    try {
      return await ask()
    } catch (cause) {
      const error = new IssuerUnavailableError('The OAuth issuer can not be asked for its keys', { cause })
      this.#failure = { error, until: performance.now() + restMs }
      throw error
    }
  }
}

/** Where an issuer tells of itself: by RFC 8414, and by OpenID Connect in its two ways of reading a path. */
function metadataAddresses (issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const inFront = ['oauth-authorization-server', 'openid-configuration'].map(name => `${origin}/.well-known/${name}${path}`)
  return path === '' ? inFront : [...inFront, `${origin}${path}/.well-known/openid-configuration`]
}

function keysAddressIn (metadata: unknown, issuer: string): URL {
  const { issuer: named, jwks_uri: address } = (metadata ?? {}) as { issuer?: unknown, jwks_uri?: unknown }
  if (named !== issuer) throw new Error('it names another issuer')
  if (typeof address !== 'string' || !URL.canParse(address)) throw new Error('it names no jwks_uri')
  const url = new URL(address)
  // An issuer on loopback may have its keys there, too.
  if (url.protocol !== 'https:' && url.origin !== new URL(issuer).origin) throw new Error('its jwks_uri is not https:')
  return url
}

function isKeySet (answer: unknown): answer is JSONWebKeySet {
  return typeof answer === 'object' && answer !== null && 'keys' in answer && Array.isArray(answer.keys)
}

async function read (url: string): Promise<unknown> {
  const { askJson } = await import('@toolyard/runtime/connections')
  const { status, body } = await askJson(url, { headers: { accept: 'application/json' }, ...most })
  if (status !== 200) throw new Error(`the answer has the status ${status}`)
  if (body === undefined) throw new Error('the answer is no JSON')
  return body
}
