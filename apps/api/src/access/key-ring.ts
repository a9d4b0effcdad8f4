import type { FoundKey, StoredKeys } from '@toolyard/queue'
import type { ApiKey } from '@toolyard/runtime'
import { createHash } from 'node:crypto'
import type { Principal } from './principal.ts'

/** Whose a key is, and what proves that it is still the same one. */
export interface KeyHolder {
  principal: Principal
  /** Changes with the key's value, and does not tell it. */
  proof: string
}

/** The keys of the settings, and those in Redis. */
export class KeyRing {
  /** Those of the settings. */
  readonly settled: readonly ApiKey[]
  readonly #stored: StoredKeys
  // Looked up by digest: the time that it takes tells nothing of the keys.
  readonly #byDigest: ReadonlyMap<string, Principal>
  readonly #byName: ReadonlyMap<string, KeyHolder>

  constructor (settled: readonly ApiKey[], stored: StoredKeys) {
    this.settled = settled
    this.#stored = stored
    this.#byDigest = new Map(settled.map(key => [digestOf(key.key), principalOfKey(key)]))
    this.#byName = new Map(settled.map(key => [key.name, { principal: principalOfKey(key), proof: digestOf(key.key) }]))
  }

  /** Whether the settings name no key: then nobody can have made one either. */
  get isEmpty (): boolean {
    return this.settled.length === 0
  }

  /**
   * Whose key a text is; undefined for nobody's.
   *
   * @throws RedisUnavailableError for a key that may be in Redis.
   */
  async find (text: string): Promise<Principal | undefined> {
    const settled = this.#byDigest.get(digestOf(text))
    if (settled !== undefined) return settled
    const stored = await this.#stored.find(text)
    return stored === undefined ? undefined : principalOfStored(stored)
  }

  /**
   * Whose the key of a name is now; undefined where there is no such key any more.
   *
   * @throws RedisUnavailableError
   */
  async named (name: string): Promise<KeyHolder | undefined> {
    const settled = this.#byName.get(name)
    if (settled !== undefined) return settled
    const stored = await this.#stored.named(name)
    return stored === undefined ? undefined : { principal: principalOfStored(stored), proof: stored.digest }
  }
}

function principalOfKey ({ name, role, tenant, queueAllowlist, permissions, sse }: ApiKey): Principal {
  return { name, role, tenant, queueAllowlist, permissions, sse }
}

function principalOfStored ({ name, role, tenant, queueAllowlist, permissions, sse }: FoundKey): Principal {
  return { name, role, tenant, queueAllowlist, permissions, sse }
}

function digestOf (key: string): string {
  return createHash('sha256').update(key).digest('base64')
}
