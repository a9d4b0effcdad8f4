import { keyId, keyPart, type FoundKey, type StoredKeys } from '@toolyard/store'
import type { ApiKey } from '@toolyard/runtime'
import { createHash } from 'node:crypto'
import type { Principal } from './principal.ts'

/**
 * The keys of the settings, and those in Redis. A name is of one key: where the settings came to have the name of a key in
 * Redis, that one opens nothing any more.
 */
export class KeyRing {
  /** Those of the settings. */
  readonly settled: readonly ApiKey[]
  readonly #stored: StoredKeys
  // Looked up by digest: the time that it takes tells nothing of the keys.
  readonly #byDigest: ReadonlyMap<string, Principal>
  readonly #byName: ReadonlyMap<string, Principal>

  constructor (settled: readonly ApiKey[], stored: StoredKeys) {
    this.settled = settled
    this.#stored = stored
    const principals = settled.map(principalOfKey)
    this.#byDigest = new Map(principals.map(principal => [principal.proof, principal]))
    this.#byName = new Map(principals.map(principal => [principal.name, principal]))
  }

  /** Whether the settings name no key: then nobody can have made one either. */
  get isEmpty (): boolean {
    return this.settled.length === 0
  }

  /** Whose key a text is; undefined for nobody's. @throws RedisUnavailableError for a key that may be in Redis. */
  async find (text: string): Promise<Principal | undefined> {
    const settled = this.#byDigest.get(digestOf(text))
    if (settled !== undefined) return settled
    const stored = await this.#stored.find(text)
    return stored === undefined || this.#byName.has(stored.name) ? undefined : principalOfStored(stored)
  }

  /** Redis' time, in milliseconds since 1970: by it all processes find a token over at once, however their clocks differ. */
  now (): number {
    return this.#stored.now()
  }

  /** Tells a listener of each key that was revoked; nobody tells of one whose time is over. */
  onRevoked (listener: () => void): void {
    this.#stored.onRevoked.add(listener)
  }

  /** Whether the key that somebody came with is good still; who came without one may stay. @throws RedisUnavailableError */
  async opensStill ({ name, proof }: Principal): Promise<boolean> {
    if (proof === '' || this.#byDigest.has(proof)) return true
    return !this.#byName.has(name) && await this.#stored.holds(proof)
  }

  /** Names the key of somebody and what it may do, for an approval: see `keyPart`. Who has no key is always the same. */
  partOf (principal: Principal): string {
    return principal.proof === '' ? '' : keyPart(this.idOf(principal), principal)
  }

  /** Tells keys of one name apart: see `keyId`; undefined for a key of the settings, and for who has none. */
  idOf ({ name, proof }: Principal): string | undefined {
    return this.#byName.has(name) || proof === '' ? undefined : keyId(proof)
  }

  /** Whose the key of a name is now; undefined where there is no such key any more. @throws RedisUnavailableError */
  async named (name: string): Promise<Principal | undefined> {
    const settled = this.#byName.get(name)
    if (settled !== undefined) return settled
    const stored = await this.#stored.named(name)
    return stored === undefined ? undefined : principalOfStored(stored)
  }
}

function principalOfKey ({ key, ...rest }: ApiKey): Principal {
  return { ...rest, proof: digestOf(key) }
}

function principalOfStored (
  { digest: proof, name, role, tenant, queueAllowlist, permissions, namespaces, hosts, sse }: FoundKey
): Principal {
  return { name, role, tenant, queueAllowlist, permissions, namespaces, hosts, sse, proof }
}

function digestOf (key: string): string {
  return createHash('sha256').update(key).digest('base64')
}
