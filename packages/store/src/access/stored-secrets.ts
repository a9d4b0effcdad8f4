import { runForGood, type Replicas } from '../redis/checks/replicas.ts'
import { BatchedScript, eachCall } from '../redis/commands/batched-script.ts'
import { goOnWhenFull } from '../redis/commands/when-full.ts'
import type { Redis } from '../redis/connection.ts'
import { fromRedis } from '../redis/from-redis.ts'
import { keyPrefix } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { whileAvailable } from '../redis/unavailable.ts'
import { isSealedNow, seal, unseal, type SealKeys } from './secret-seal.ts'

/*
 * Secrets that tools use. Redis has each of them sealed, under whose it is and its name; nothing else of the service keeps a
 * value. They are read for each call that uses one, so that one that was removed isn't used any more.
 */

/** Whose a secret is: the operator's, a tenant's, or that of one API key. */
export type SecretScope = { kind: 'operator' } | { kind: 'tenant', tenant: string } | { kind: 'key', key: string }

/** A secret as lists have it. Times are milliseconds since 1970. */
export interface ListedSecret {
  name: string
  scope: SecretScope
  storedAt: number
  lastUsedAt: number | undefined
}

type PlacedSecret = Pick<ListedSecret, 'name' | 'scope'> & { place: string }

/** Secrets that a tenant and its keys may have, and as many those without one: what one of them stores takes no room from another. */
export const maxStoredSecrets = 1_000
const between = '\n'

/** The secrets in Redis; undefined where there is no key to seal them with. */
export function openSecrets (redis: Redis, keys: SealKeys | undefined, replicas?: Replicas): StoredSecrets | undefined {
  return keys === undefined ? undefined : new StoredSecrets(redis, keys, replicas)
}

/** The secrets in Redis. */
export class StoredSecrets {
  readonly #redis: Redis
  readonly #keys: SealKeys
  readonly #replicas: Replicas | undefined

  /** @param replicas those that must know of a secret that was stored or removed before that is said; undefined: none */
  constructor (redis: Redis, keys: SealKeys, replicas?: Replicas) {
    this.#redis = redis
    this.#keys = keys
    this.#replicas = replicas
  }

  /**
   * Stores a value, in place of one of the same name; false when its owner has too many.
   *
   * @param owner the tenant in whose room it counts, also where it is of one of its keys
   * @throws RedisUnavailableError
   */
  async put (name: string, scope: SecretScope, value: string, owner: string | undefined): Promise<boolean> {
    const place = placeOf(name, scope)
    const record = seal(value, place, this.#keys)
    const call = { keys: [sealedKey, ownersKey, countsKey, writtenKey, timesKey], args: [place, record, owner ?? '', maxStoredSecrets, serverTime(this.#redis)] }
    return await runForGood(this.#redis, this.#replicas, putScript, call) === 1
  }

  /** Whether there was one. @throws RedisUnavailableError */
  async remove (name: string, scope: SecretScope): Promise<boolean> {
    return await this.#remove([placeOf(name, scope)], this.#replicas) === 1
  }

  /** Removes what an owner has; no replica is waited for. @throws RedisUnavailableError */
  async removeAllOf (scope: SecretScope): Promise<void> {
    const found = await this.#find(other => placeOf('', other) === placeOf('', scope))
    if (found.length > 0) await this.#remove(found.map(({ place }) => place), undefined)
  }

  /**
   * Those of some scopes, by name. No value is read, which may be large.
   *
   * @throws RedisUnavailableError
   */
  async list (isWanted: (scope: SecretScope) => boolean = () => true): Promise<ListedSecret[]> {
    const wanted = await this.#find(isWanted)
    const listed: ListedSecret[] = []
    for (let start = 0; start < wanted.length; start += listedAtOnce) {
      const some = wanted.slice(start, start + listedAtOnce)
      const reading = this.#redis.eval(timesScript, 2, timesKey, usedKey, ...some.map(({ place }) => place))
      const times = fromRedis<Array<[stored: string | null, used: string | null]>>(await whileAvailable(reading))
      for (const [index, { name, scope }] of some.entries()) {
        const [stored, used] = times[index] ?? [null, null]
        if (stored !== null) listed.push({ name, scope, storedAt: Number(stored), lastUsedAt: used === null ? undefined : Number(used) })
      }
    }
    return listed.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  }

  /**
   * The values of secrets for one call, by name: that of its key, else of its tenant, else the operator's. What nobody has is
   * missing. What is there and no key of the service opens is undefined: no other one takes its place.
   *
   * The secret of a key is for the tenant alone that the key had: another one may have the name now.
   *
   * @throws RedisUnavailableError
   */
  async open (
    names: readonly string[], { keyName, tenant }: { keyName: string | undefined, tenant: string | undefined }
  ): Promise<Map<string, string | undefined>> {
    const scopes: SecretScope[] = [
      ...keyName === undefined ? [] : [{ kind: 'key', key: keyName } as const],
      ...tenant === undefined ? [] : [{ kind: 'tenant', tenant } as const],
      { kind: 'operator' }
    ]
    const places = names.flatMap(name => scopes.map(scope => ({ name, scope, place: placeOf(name, scope) })))
    if (places.length === 0) return new Map()
    const fields = places.map(({ place }) => place)
    const read = [sealedKey, ownersKey].map(async key => await this.#redis.hmget(key, ...fields))
    const [records = [], owners = []] = await whileAvailable(Promise.all(read))
    const values = new Map<string, string | undefined>()
    const used: string[] = []
    for (const [index, { name, scope, place }] of places.entries()) {
      const record = records[index]
      if (record === null || record === undefined || values.has(name)) continue
      if (scope.kind === 'key' && owners[index] !== (tenant ?? '')) continue
      const value = unseal(record, place, this.#keys)
      values.set(name, value)
      if (value !== undefined) used.push(place, String(serverTime(this.#redis)))
    }
    // Only lists show it.
    if (used.length > 0) void this.#redis.hset(usedKey, ...used).catch(() => {})
    return values
  }

  /** Those of some scopes. Those of all tenants are looked through, some at a time: others have their turn in between. */
  async #find (isWanted: (scope: SecretScope) => boolean): Promise<PlacedSecret[]> {
    const found = new Map<string, PlacedSecret>()
    for (let cursor: string | undefined; cursor !== '0';) {
      const [next, fields] = await whileAvailable(this.#redis.hscan(ownersKey, cursor ?? '0', 'COUNT', scannedAtOnce))
      for (const [at, place] of fields.entries()) {
        const read = at % 2 === 0 ? readPlace(place) : undefined
        if (read !== undefined && isWanted(read.scope)) found.set(place, { place, ...read })
      }
      cursor = next
    }
    return [...found.values()]
  }

  async #remove (places: readonly string[], replicas: Replicas | undefined): Promise<number> {
    const call = { keys: [sealedKey, ownersKey, countsKey, writtenKey, usedKey, timesKey], args: places }
    return Number(await runForGood(this.#redis, replicas, removeScript, call))
  }

  /**
   * Seals with the current key what another one has sealed. `lost`: what no key opens.
   *
   * @throws RedisUnavailableError, also where replicas don't have all of it: who takes the old key out may need it then.
   */
  async rotate (): Promise<{ sealed: number, lost: number }> {
    let [sealed, lost] = [0, 0]
    // One by one: together they may have hundreds of megabytes.
    for (const place of await whileAvailable(this.#redis.hkeys(sealedKey))) {
      const found = await this.#sealAnew(place)
      if (found === 'sealed') sealed += 1
      if (found === 'lost') lost += 1
    }
    return { sealed, lost }
  }

  async #sealAnew (place: string): Promise<'sealed' | 'lost' | 'known'> {
    for (;;) {
      const record = await whileAvailable(this.#redis.hget(sealedKey, place))
      if (record === null) return 'known'
      const isKnown = isSealedNow(record, this.#keys)
      const value = isKnown ? undefined : unseal(record, place, this.#keys)
      if (!isKnown && value === undefined) return 'lost'
      const anew = value === undefined ? record : seal(value, place, this.#keys)
      const call = { keys: [sealedKey, writtenKey], args: [place, record, anew] }
      // One that was changed meanwhile is looked at again: a process with the old key may have done it.
      if (await runForGood(this.#redis, this.#replicas, replaceScript, call) === 1) return isKnown ? 'known' : 'sealed'
    }
  }
}

/** The sealed values, when each was stored and used, in whose room each counts, and how many each of those has. */
const [sealedKey, usedKey] = [`${keyPrefix}:{secrets}:sealed`, `${keyPrefix}:{secrets}:used`]
const timesKey = `${keyPrefix}:{secrets}:stored`
const [ownersKey, countsKey] = [`${keyPrefix}:{secrets}:owners`, `${keyPrefix}:{secrets}:counts`]
/** Written each time, so that a repeat waits for replicas as well. */
const writtenKey = `${keyPrefix}:{secrets}:written`
const written = "redis.call('SET', KEYS[4], '1', 'PX', 1000)"
/**
 * KEYS: secrets, owners, counts, written, times. ARGV: place, record, owner or nothing, how many it may have, now. Answers whether
 * there was room.
 */
const putScript = new BatchedScript('put-secret', eachCall(`
${written}
local before = redis.call('HGET', KEYS[2], ARGV[1])
if before ~= ARGV[3] then
  if tonumber(redis.call('HGET', KEYS[3], ARGV[3]) or 0) >= tonumber(ARGV[4]) then return 0 end
  if before and redis.call('HINCRBY', KEYS[3], before, -1) <= 0 then redis.call('HDEL', KEYS[3], before) end
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
  redis.call('HINCRBY', KEYS[3], ARGV[3], 1)
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[5], ARGV[1], ARGV[5])
return 1
`))
/** KEYS: secrets, owners, counts, written, uses, times. ARGV: places. Answers how many of them had a secret. A full Redis takes it too. */
const removeScript = new BatchedScript('remove-secret', eachCall(`
${goOnWhenFull('KEYS[1]')}
${written}
local removed = 0
for _, place in ipairs(ARGV) do
  local owner = redis.call('HGET', KEYS[2], place)
  if owner and redis.call('HINCRBY', KEYS[3], owner, -1) <= 0 then redis.call('HDEL', KEYS[3], owner) end
  redis.call('HDEL', KEYS[2], place)
  redis.call('HDEL', KEYS[5], place)
  redis.call('HDEL', KEYS[6], place)
  removed = removed + redis.call('HDEL', KEYS[1], place)
end
return removed
`))
/** Secrets whose times one script reads, and places of secrets that one command reads. */
const listedAtOnce = 50
const scannedAtOnce = 1_000
/** KEYS: times, uses. ARGV: places. Answers of each when it was stored, and when it was used. */
const timesScript = `
local times = {}
for at, place in ipairs(ARGV) do times[at] = {redis.call('HGET', KEYS[1], place), redis.call('HGET', KEYS[2], place)} end
return times
`
/** KEYS: secrets, written. ARGV: place, record, new record, which may be the same: a repeat waits for replicas as well. */
const replaceScript = new BatchedScript('seal-secret-anew', eachCall(`
redis.call('SET', KEYS[2], '1', 'PX', 1000)
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`))

function placeOf (name: string, scope: SecretScope): string {
  return [scope.kind, scope.kind === 'tenant' ? scope.tenant : scope.kind === 'key' ? scope.key : '', name].join(between)
}

function readPlace (place: string): { name: string, scope: SecretScope } | undefined {
  const [kind, whose = '', name = ''] = place.split(between)
  if (kind === 'operator') return { name, scope: { kind } }
  if (kind === 'tenant') return { name, scope: { kind, tenant: whose } }
  return kind === 'key' ? { name, scope: { kind, key: whose } } : undefined
}
