import { createHash, randomBytes } from 'node:crypto'
import { isRecord, roles, type Permission, type Role } from '@toolyard/contract/terms'
import { runForGood, type Replicas } from '../redis/checks/replicas.ts'
import { BatchedScript, eachCall } from '../redis/commands/batched-script.ts'
import { goOnWhenFull } from '../redis/commands/when-full.ts'
import { BoundedMap } from '../redis/bounded-map.ts'
import type { Redis } from '../redis/connection.ts'
import { keysChannel, storedKeysKey } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { subscribe } from '../redis/subscription.ts'
import { whileAvailable } from '../redis/unavailable.ts'
import { fromRedis } from '../redis/from-redis.ts'
import { isTexts, readStored } from '../redis/stored.ts'

/*
 * API keys that are made while the service runs. Redis has a record under the digest of each key, and a table of the
 * digests by name; never a key. A key's time ends with its record, by Redis' own clock. See docs/decisions/0073-stored-keys.md.
 */

export interface StoredKey {
  name: string
  role: Role
  tenant?: string | undefined
  queueAllowlist?: readonly string[] | undefined
  permissions?: readonly Permission[] | undefined
  namespaces?: readonly string[] | undefined
  hosts?: readonly string[] | undefined
  sse: boolean
}

/** A key as lists have it. Times are milliseconds since 1970 by Redis' clock. */
export interface ListedKey extends StoredKey {
  createdAt: number
  expiresAt: number | undefined
  lastUsedAt: number | undefined
}

export interface FoundKey extends StoredKey {
  /** Changes with the key's value, and does not tell it. */
  digest: string
}

export const maxStoredKeys = 10_000
/** How long a process trusts what it knows about a key, in milliseconds. Of a revoked one it gets a message. */
const trustMs = 1_000
/** The use of a key is noted so often at most, in milliseconds. */
const usedMs = 60_000
const keyBytes = 32
const keyPattern = /^ty_[\w-]{43}$/
/** Records that one script reads. */
const batchSize = 500

/**
 * KEYS: names. ARGV: the stem of records, name, digest, record, seconds or nothing, how many there may be. Answers 1; 0
 * for a name that is taken; -1 when there are too many.
 */
const addScript = `
local stem, name = ARGV[1], ARGV[2]
local taken = redis.call('HGET', KEYS[1], name)
if taken and redis.call('EXISTS', stem .. taken) == 1 then return 0 end
if not taken and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[6]) then return -1 end
redis.call('HSET', KEYS[1], name, ARGV[3])
redis.call('HSET', stem .. ARGV[3], 'record', ARGV[4])
if ARGV[5] ~= '' then redis.call('EXPIRE', stem .. ARGV[3], ARGV[5]) end
return 1
`
/**
 * KEYS: names, and one that is written each time, so that a repeat waits for replicas as well. ARGV: the stem of records, name,
 * channel. Answers 1 where there was such a key.
 */
const revokeScript = new BatchedScript('revoke-key', eachCall(`
${goOnWhenFull('KEYS[1]')}
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[2], '1', 'PX', 1000)
local digest = redis.call('HGET', KEYS[1], ARGV[2])
if not digest then return 0 end
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call('PUBLISH', ARGV[3], digest)
return redis.call('DEL', ARGV[1] .. digest)
`))
/**
 * KEYS: names. ARGV: the stem of records, names. Answers of each its record, the milliseconds that it has left, and when it
 * was used; drops those whose time is over.
 */
const readScript = `
local found = {}
for i = 2, #ARGV do
  local digest = redis.call('HGET', KEYS[1], ARGV[i])
  local record = digest and redis.call('HMGET', ARGV[1] .. digest, 'record', 'used')
  if record and record[1] then
    table.insert(found, {record[1], redis.call('PTTL', ARGV[1] .. digest), record[2]})
  elseif digest then
    redis.call('HDEL', KEYS[1], ARGV[i])
  end
end
return found
`
/** KEYS: record. ARGV: time. A key that is revoked meanwhile stays so. */
const useScript = "return redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HSET', KEYS[1], 'used', ARGV[1]) or 0"

interface KeyRecord extends StoredKey { createdAt: number }

function isKeyRecord (value: unknown): value is KeyRecord {
  if (!isRecord(value)) return false
  const { name, role, tenant, queueAllowlist, permissions, namespaces, hosts, sse, createdAt } = value
  return typeof name === 'string' && roles.some(each => each === role) && typeof sse === 'boolean' && typeof createdAt === 'number' &&
    (tenant === undefined || typeof tenant === 'string') && [queueAllowlist, permissions, namespaces, hosts].every(list => list === undefined || isTexts(list))
}

interface KnownKey {
  key: FoundKey | undefined
  readAt: number
  usedAt: number
}

/** The API keys in Redis. All methods throw RedisUnavailableError. */
export class StoredKeys {
  readonly #redis: Redis
  readonly #replicas: Replicas | undefined
  readonly #known = new BoundedMap<KnownKey>(() => ({ key: undefined, readAt: -Infinity, usedAt: -Infinity }))

  /** @param replicas those that must know that a key is revoked before that is said; undefined: none */
  constructor (redis: Redis, replicas?: Replicas) {
    this.#redis = redis
    this.#replicas = replicas
  }

  /** Redis' time, in milliseconds since 1970. */
  now (): number {
    return serverTime(this.#redis)
  }

  /** All of them are called when a key was revoked. A key whose time is over, or whose message was lost, causes no call. */
  readonly onRevoked = new Set<() => void>()

  /** Listens for revoked keys from now on; while Redis is away the subscription waits for it. */
  listen (subscriber: Redis): void {
    subscribe(subscriber, keysChannel, digest => {
      this.#known.of(digest).readAt = -Infinity
      for (const tell of this.onRevoked) tell()
    }).catch(() => {})
  }

  /**
   * Makes a key.
   *
   * @param expiresInSec never when absent.
   * @returns the key itself, which can't be read later.
   */
  async add (key: StoredKey, expiresInSec?: number): Promise<{ text: string, listed: ListedKey } | 'taken' | 'full'> {
    const text = `ty_${randomBytes(keyBytes).toString('base64url')}`
    const record: KeyRecord = { ...key, createdAt: serverTime(this.#redis) }
    const args = [recordStem, key.name, digestOf(text), JSON.stringify(record), expiresInSec ?? '', maxStoredKeys]
    let answer = await this.#eval(addScript, ...args)
    // Names of keys whose time is over are dropped by whoever lists them.
    if (answer === -1) {
      await this.list()
      answer = await this.#eval(addScript, ...args)
    }
    if (answer !== 1) return answer === 0 ? 'taken' : 'full'
    const expiresAt = expiresInSec === undefined ? undefined : record.createdAt + expiresInSec * 1_000
    return { text, listed: { ...record, expiresAt, lastUsedAt: undefined } }
  }

  /** Whether a key has a name, by Redis itself. */
  async isTaken (name: string): Promise<boolean> {
    const digest = await whileAvailable(this.#redis.hget(namesKey, name))
    return digest !== null && await whileAvailable(this.#redis.exists(recordStem + digest)) === 1
  }

  /** All keys, by name. */
  async list (): Promise<ListedKey[]> {
    const names = (await whileAvailable(this.#redis.hkeys(namesKey))).sort()
    const keys: ListedKey[] = []
    for (let start = 0; start < names.length; start += batchSize) {
      const batch = names.slice(start, start + batchSize)
      const found = fromRedis<Array<[string, number, string | null]>>(await this.#eval(readScript, recordStem, ...batch))
      const now = serverTime(this.#redis)
      for (const [record, leftMs, used] of found) {
        const expiresAt = leftMs < 0 ? undefined : now + leftMs
        keys.push({ ...readStored('the record of a key', record, isKeyRecord), expiresAt, lastUsedAt: used === null ? undefined : Number(used) })
      }
    }
    return keys
  }

  /** Makes a key worth nothing, for all processes; whether there was one. */
  async revoke (name: string): Promise<boolean> {
    const call = { keys: [namesKey, storedKeysKey('revoked')], args: [recordStem, name, keysChannel] }
    return await runForGood(this.#redis, this.#replicas, revokeScript, call) === 1
  }

  /** The key that a text is; undefined for none. */
  async find (text: string): Promise<FoundKey | undefined> {
    if (!keyPattern.test(text)) return undefined
    return await this.#find(digestOf(text), true)
  }

  /** Whether there is a key of a digest. */
  async holds (digest: string): Promise<boolean> {
    return await this.#find(digest, false) !== undefined
  }

  /** The key of a name, as it is now. */
  async named (name: string): Promise<FoundKey | undefined> {
    const digest = await whileAvailable(this.#redis.hget(namesKey, name))
    return digest === null ? undefined : await this.#find(digest, false)
  }

  async #find (digest: string, isUse: boolean): Promise<FoundKey | undefined> {
    const known = this.#known.of(digest)
    if (performance.now() - known.readAt > trustMs) {
      const askedAt = performance.now()
      const record = await whileAvailable(this.#redis.hget(recordStem + digest, 'record'))
      known.key = record === null ? undefined : { ...readStored('the record of a key', record, isKeyRecord), digest }
      known.readAt = askedAt
    }
    if (isUse && known.key !== undefined && performance.now() - known.usedAt > usedMs) {
      known.usedAt = performance.now()
      this.#redis.eval(useScript, 1, recordStem + digest, serverTime(this.#redis)).catch(() => { known.usedAt = -Infinity })
    }
    return known.key
  }

  async #eval (script: string, ...args: Array<string | number>): Promise<unknown> {
    return await whileAvailable(this.#redis.eval(script, 1, namesKey, ...args))
  }
}

const namesKey = storedKeysKey('names')
const recordStem = storedKeysKey('')

function digestOf (text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
