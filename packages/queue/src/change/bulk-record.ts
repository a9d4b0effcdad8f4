import type { BulkAction, JobListQuery, Permission } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import { type Redis, bulkKey, isTexts, type JobScope, readStored, whileAvailable } from '@toolyard/store'

/** A change of all jobs that fit a query, and by whom. Another process continues it when one is lost. */
export interface BulkOrder {
  id: string
  action: BulkAction
  /** As it was asked for. */
  filter: Record<string, string>
  /** Up to the moment in which it was asked for. */
  query: Omit<JobListQuery, 'limit' | 'cursor'>
  scope: JobScope
  keyName: string
  permissions?: readonly Permission[] | undefined
  namespaces?: readonly string[] | undefined
  hosts?: readonly string[] | undefined
  total: number | null
  createdAt: number
}

interface BulkProgress {
  state: 'running' | 'done' | 'stopped'
  seen: number
  changed: number
  /** Of the page that comes next. */
  cursor: string | undefined
  finishedAt: number | undefined
}

export type Bulk = BulkOrder & BulkProgress

/** How far one is at first. */
export const begun: BulkProgress = { state: 'running', seen: 0, changed: 0, cursor: undefined, finishedAt: undefined }

/** So many of a tenant are kept, and as many of keys without one, each so long, in seconds. */
const mostKept = 100
const keptSec = 7 * 86_400
/** So many are listed, of all tenants together. */
const mostListed = 100
/** Those of all tenants, and those of them that run. */
const allKey = bulkKey('all')
const runningKey = bulkKey('running')

/**
 * Writes a record, and forgets the oldest of its tenant that have ended. KEYS: record, all, those of the tenant, running. ARGV: id, order,
 * time, most running, most kept, seconds, stem of the records' keys, most listed. Answers whether there was room.
 */
const addScript = `
local ended, running = {}, 0
for _, id in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  local state = redis.call('HGET', ARGV[7] .. id, 'state')
  if state == 'running' then running = running + 1
  elseif state then table.insert(ended, id)
  else redis.call('ZREM', KEYS[3], id) end
end
if running >= tonumber(ARGV[4]) then return 0 end
for place = 1, running + #ended + 1 - tonumber(ARGV[5]) do
  redis.call('ZREM', KEYS[2], ended[place])
  redis.call('ZREM', KEYS[3], ended[place])
  redis.call('DEL', ARGV[7] .. ended[place])
end
redis.call('HSET', KEYS[1], 'order', ARGV[2], 'state', 'running', 'seen', 0, 'changed', 0)
redis.call('EXPIRE', KEYS[1], ARGV[6])
redis.call('SADD', KEYS[4], ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[8])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('EXPIRE', KEYS[3], ARGV[6])
return 1
`
/**
 * Notes what was done to a page, if its process still holds the lease; without a cursor it was the last page. KEYS: record, lease,
 * running. ARGV: id, holder, seen, changed, cursor, time. Answers whether there is another page for this process.
 */
const advanceScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[2] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[1], 'seen', ARGV[3])
redis.call('HINCRBY', KEYS[1], 'changed', ARGV[4])
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[1], 'cursor', ARGV[5])
  return 1
end
if redis.call('HGET', KEYS[1], 'state') == 'running' then redis.call('HSET', KEYS[1], 'state', 'done', 'finishedAt', ARGV[6]) end
redis.call('SREM', KEYS[3], ARGV[1])
return 0
`
/** KEYS: record, running. ARGV: id, time. */
const stopScript = `
if redis.call('HGET', KEYS[1], 'state') == 'running' then redis.call('HSET', KEYS[1], 'state', 'stopped', 'finishedAt', ARGV[2]) end
return redis.call('SREM', KEYS[2], ARGV[1])
`

/** Bulk changes in Redis. All methods throw RedisUnavailableError. */
export class BulkRecords {
  readonly #redis: Redis

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** False when so many of the same tenant run already. */
  async add (order: BulkOrder, mostRunning: number): Promise<boolean> {
    const { id, createdAt, scope } = order
    const keys = [bulkKey(id), allKey, listKey(scope.tenant), runningKey]
    const added = this.#redis.eval(
      addScript, keys.length, ...keys, id, JSON.stringify(order), createdAt, mostRunning, mostKept, keptSec, bulkKey(''), mostListed
    )
    return await whileAvailable(added) === 1
  }

  /** The last ones of a tenant, or of all, the newest first. */
  async list (tenant: string | undefined): Promise<Bulk[]> {
    const key = tenant === undefined ? allKey : listKey(tenant)
    const ids = await whileAvailable(this.#redis.zrange(key, '0', '-1', 'REV'))
    return (await Promise.all(ids.map(async id => await this.read(id)))).filter(bulk => bulk !== undefined)
  }

  /** The ids of those that run. */
  async running (): Promise<string[]> {
    return await whileAvailable(this.#redis.smembers(runningKey))
  }

  /** To be called for one that was found not to run. */
  async forget (id: string): Promise<void> {
    await whileAvailable(this.#redis.srem(runningKey, id))
  }

  async read (id: string): Promise<Bulk | undefined> {
    const { order, state, seen, changed, cursor, finishedAt } = await whileAvailable(this.#redis.hgetall(bulkKey(id)))
    if (order === undefined) return undefined
    return {
      ...readStored('a bulk change', order, isOrder),
      state: state === 'done' || state === 'stopped' ? state : 'running',
      seen: Number(seen),
      changed: Number(changed),
      cursor,
      finishedAt: finishedAt === undefined ? undefined : Number(finishedAt)
    }
  }

  /** Notes what this process did to a page, and where the next begins; whether it is to go on. */
  async advance (
    id: string, holder: string, { seen, changed, cursor, at }: { seen: number, changed: number, cursor: string | null, at: number }
  ): Promise<boolean> {
    const noted = this.#redis.eval(advanceScript, 3, bulkKey(id), leaseKey(id), runningKey, id, holder, seen, changed, cursor ?? '', at)
    return await whileAvailable(noted) === 1
  }

  async stop (id: string, at: number): Promise<void> {
    await whileAvailable(this.#redis.eval(stopScript, 2, bulkKey(id), runningKey, id, at))
  }

  /** Whether it is this process's to go on with, for so many milliseconds. */
  async lease (id: string, holder: string, ms: number): Promise<boolean> {
    const key = leaseKey(id)
    if (await whileAvailable(this.#redis.set(key, holder, 'PX', ms, 'NX')) === 'OK') return true
    if (await whileAvailable(this.#redis.get(key)) !== holder) return false
    return await whileAvailable(this.#redis.pexpire(key, ms)) === 1
  }
}

/** Those of a tenant; no tenant's name has a space. */
function listKey (tenant: string | undefined): string {
  return bulkKey(tenant === undefined ? 'own' : `of ${tenant}`)
}

function leaseKey (id: string): string {
  return bulkKey(`lease:${id}`)
}

function isOrder (value: unknown): value is BulkOrder {
  if (!isRecord(value)) return false
  const { id, action, keyName, filter, query, scope, createdAt } = value
  return isTexts([id, action, keyName]) && [filter, query, scope].every(isRecord) && typeof createdAt === 'number'
}
