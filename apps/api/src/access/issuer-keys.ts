import { asError } from '@toolyard/contract'
import type { createRemoteJWKSet, CryptoKey } from 'jose'

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>

/** The issuer can't be asked for its keys, or answers nonsense. */
class IssuerUnavailableError extends Error {
  override readonly name = 'IssuerUnavailableError'
}

const most = { ms: 5_000, bytes: 262_144 }
/** After a failure the issuer isn't asked again for this long, in milliseconds, whatever clients send. */
const restMs = 5_000
/** How long keys are taken for current, and how often unknown ones may be asked for. */
const keysOptions = { cacheMaxAge: 600_000, cooldownDuration: 30_000, timeoutDuration: most.ms }

/** The public keys of an OAuth issuer, which its metadata leads to. They are asked for when the first token comes. */
export class IssuerKeys {
  readonly #issuer: string
  #finding: Promise<RemoteKeys> | undefined
  #failure: { error: IssuerUnavailableError, until: number } | undefined

  constructor (issuer: string) {
    this.#issuer = issuer
  }

  /** Finds the key that a token names. @throws IssuerUnavailableError; an error of jose for a token without a key. */
  async find (...token: Parameters<RemoteKeys>): Promise<CryptoKey> {
    const keys = await (this.#finding ??= this.#discover())
    try {
      return await keys(...token)
    } catch (error) {
      // They may be elsewhere by now.
      if (error instanceof IssuerUnavailableError && !keys.fresh) this.#finding = undefined
      throw error
    }
  }

  async #discover (): Promise<RemoteKeys> {
    const { createRemoteJWKSet, customFetch } = await import('jose')
    const address = await this.#guarded(() => this.#keysAddress()).catch((error: unknown) => {
      this.#finding = undefined
      throw error
    })
    return createRemoteJWKSet(address, {
      ...keysOptions,
      [customFetch]: async (url: string) => await this.#guarded(async () => {
        const answer = await read(url)
        if (!isKeySet(answer)) throw new Error(`${url} is no set of keys`)
        return Response.json(answer)
      })
    })
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

function isKeySet (answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'keys' in answer && Array.isArray(answer.keys)
}

async function read (url: string): Promise<unknown> {
  const { askJson } = await import('@toolyard/runtime/connections')
  const { status, body } = await askJson(url, { headers: { accept: 'application/json' }, ...most })
  if (status !== 200) throw new Error(`the answer has the status ${status}`)
  if (body === undefined) throw new Error('the answer is no JSON')
  return body
}
