import { asError, HttpError } from '@toolyard/contract'
import { isTenantName, tenantNamePattern } from '@toolyard/contract/terms'
import type { Role } from '@toolyard/contract'
import type { TokenSettings } from '@toolyard/runtime'
import type { JWTPayload } from 'jose'
import { IssuerKeys } from './issuer-keys.ts'
import type { KeyRing } from './key-ring.ts'
import type { Principal } from './principal.ts'

/** A bearer token that opens nothing, with what RFC 6750 calls the reason. */
export class TokenRefusedError extends HttpError {
  readonly reason: 'invalid_token' | 'insufficient_scope'
  /** The scope that is missing. */
  readonly scope: string | undefined

  constructor (message: string, scope?: string) {
    super(scope === undefined ? 'UNAUTHORIZED' : 'FORBIDDEN', message)
    this.reason = scope === undefined ? 'invalid_token' : 'insufficient_scope'
    this.scope = scope
  }
}

/** Signatures that the issuer alone can make. Where a key may be known to others, as with HS256, it proves nothing. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** Clocks of the issuer and of Redis may differ by so much, in seconds. */
const clockToleranceSec = 30
/** Tokens of other kinds say so (RFC 8725, 3.11). Issuers that know no `at+jwt` (RFC 9068) send `JWT`, or nothing. */
const accessTokenTypes = new Set(['at+jwt', 'jwt'])
/** RFC 7519 bounds no name; OpenID Connect does. */
const namePattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** Takes the access tokens of an OAuth issuer (RFC 9068): who has one acts by the roles that its scopes stand for. */
export class AccessTokens {
  readonly #settings: TokenSettings
  readonly #resource: () => string
  readonly #keys: IssuerKeys
  readonly #principals = new WeakSet<Principal>()
  readonly #clock: Pick<KeyRing, 'now'>
  readonly #onFailure: (error: Error) => void

  /** @param resource the URL of what the tokens are for. */
  constructor (settings: TokenSettings, resource: () => string, clock: Pick<KeyRing, 'now'>, onFailure: (error: Error) => void) {
    this.#settings = settings
    this.#resource = () => settings.resource ?? resource()
    this.#keys = new IssuerKeys(settings.issuer)
    this.#clock = clock
    this.#onFailure = onFailure
  }

  /**
   * Who a request with a token comes from.
   *
   * @throws TokenRefusedError; HttpError `UNAVAILABLE` while the issuer can't be asked for its keys.
   */
  async principalOf (token: string): Promise<Principal> {
    const claims = await this.#verified(token)
    const { sub, exp = 0 } = claims
    if (typeof sub !== 'string' || !namePattern.test(sub)) throw new TokenRefusedError('The access token names nobody: its sub is missing or is no name')
    const role = this.#roleOf(claims)
    if (role === undefined) throw this.lacksScope('read')
    const principal = {
      name: `oauth:${sub}`,
      role,
      tenant: this.#tenantOf(claims),
      queueAllowlist: undefined,
      permissions: undefined,
      sse: true,
      proof: '',
      endsAt: (exp + clockToleranceSec) * 1_000
    }
    this.#principals.add(principal)
    return principal
  }

  hasToken (principal: Principal): boolean {
    return this.#principals.has(principal)
  }

  lacksScope (role: keyof TokenSettings['scopes']): TokenRefusedError {
    const scope = this.#settings.scopes[role]
    return new TokenRefusedError(`The access token lacks the scope ${scope}`, scope)
  }

  /**
   * The header `WWW-Authenticate`: it leads clients to where tokens are issued (RFC 9728). What is said of a token may have
   * a part of it, so only what a quoted text of a header may hold is kept.
   */
  challenge (error?: TokenRefusedError): string {
    const { read, admin } = this.#settings.scopes
    const fields = {
      ...(error === undefined ? {} : { error: error.reason, error_description: error.message }),
      scope: error?.scope ?? `${read} ${admin}`,
      resource_metadata: this.#metadataAddress()
    }
    return `Bearer ${Object.entries(fields).map(([name, value]) => `${name}="${value.replaceAll(/[^ !#-[\]-~]/g, '')}"`).join(', ')}`
  }

  /** For clients (RFC 9728). */
  metadata (): { resource: string, [field: string]: unknown } {
    return {
      resource: this.#resource(),
      authorization_servers: [this.#settings.issuer],
      scopes_supported: Object.values(this.#settings.scopes),
      bearer_methods_supported: ['header'],
      resource_name: 'Toolyard'
    }
  }

  #metadataAddress (): string {
    const { origin, pathname } = new URL(this.#resource())
    return `${origin}${metadataPath}${pathname.replace(/\/$/, '')}`
  }

  async #verified (token: string): Promise<JWTPayload> {
    const { errors, jwtVerify } = await import('jose')
    const { issuer } = this.#settings
    const audience = this.#settings.audience ?? this.#resource()
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys.find.bind(this.#keys), {
        issuer, audience, algorithms, currentDate: new Date(this.#clock.now()), clockTolerance: clockToleranceSec, requiredClaims: ['exp', 'sub']
      })
      if (!isAccessToken(protectedHeader.typ)) throw new errors.JWTInvalid('its header typ must be at+jwt, JWT or absent')
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new TokenRefusedError(`The access token is refused: ${error.message}`)
      // A key that the issuer names and that can't be used is its failure, too.
      this.#onFailure(asError(error))
      throw new HttpError('UNAVAILABLE', 'The OAuth issuer\'s keys can not be had now, so that this access token is not checked')
    }
  }

  /** Without the claim that was named, a token would be the operator's. */
  #tenantOf (claims: JWTPayload): string | undefined {
    const { tenantClaim } = this.#settings
    if (tenantClaim === undefined) return undefined
    const tenant = claims[tenantClaim]
    if (isTenantName(tenant)) return tenant
    throw new TokenRefusedError(`The access token names no tenant: its ${tenantClaim} is missing or doesn't match ${tenantNamePattern}`)
  }

  /** Issuers write scopes as one text (RFC 9068), or as a list named `scp`. */
  #roleOf ({ scope, scp }: JWTPayload): Role | undefined {
    const scopes = new Set([scope, scp].flat().flatMap(each => typeof each === 'string' ? each.split(' ') : []))
    return (['admin', 'read'] as const).find(role => scopes.has(this.#settings.scopes[role]))
  }
}

/** A type is that of a medium, whose `application/` may be left out (RFC 7515, 4.1.9). */
function isAccessToken (typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && accessTokenTypes.has(typ.toLowerCase().replace(/^application\//, '')))
}

/** Where the metadata of a resource is; the path of the resource follows (RFC 9728). */
export const metadataPath = '/.well-known/oauth-protected-resource'
