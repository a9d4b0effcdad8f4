import type { BulkAction, JobListQuery, Permission } from '@toolyard/contract'
import { storedJson } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { bulkKey } from '../redis/names.ts'
import type { JobScope } from '../record/job-scope.ts'
import { whileAvailable } from '../redis/unavailable.ts'

/** A change of all jobs that fit a query, and by whom. Another process continues it when one is lost. */
export interface BulkOrder {
  id: string
  action: BulkAction
  /** As it was asked for. */
  filter: Record<string, string>
  /** What is looked for: up to the moment in which it was asked for. */
  query: Omit<JobListQuery, 'limit' | 'cursor'>
  scope: JobScope
  keyName: string
  permissions?: readonly Permission[] | undefined
  total: number | null
  createdAt: number
}

/** How far it is. */
export interface BulkProgress {
  state: 'running' | 'done' | 'stopped'
  seen: number
  changed: number
  /** Of the page that comes next. */
  cursor: string | undefined
  finishedAt: number | undefined
}

export type Bulk = BulkOrder & BulkProgress

/** So many are kept, and each so long, in seconds. */
const mostKept = 100
const keptSec = 7 * 86_400

/** What is kept of bulk changes in Redis. All methods throw RedisUnavailableError. */
export class BulkRecords {
  readonly #redis: Redis

  constructor (redis: Redis) {
    this.#redis = redis
  }

  async add (order: BulkOrder): Promise<void> {
    const key = bulkKey(order.id)
    await whileAvailable(this.#redis.hset(key, { order: JSON.stringify(order), state: 'running', seen: 0, changed: 0 }))
    await whileAvailable(this.#redis.expire(key, keptSec))
    await whileAvailable(this.#redis.zadd(bulkKey('all'), order.createdAt, order.id))
    const old = await whileAvailable(this.#redis.zrange(bulkKey('all'), '0', String(-mostKept - 1)))
    if (old.length > 0) await whileAvailable(this.#redis.zrem(bulkKey('all'), ...old))
  }

  /** The newest first. */
  async list (): Promise<Bulk[]> {
    const ids = await whileAvailable(this.#redis.zrange(bulkKey('all'), '0', '-1', 'REV'))
    return (await Promise.all(ids.map(async id => await this.read(id)))).filter(bulk => bulk !== undefined)
  }

  async read (id: string): Promise<Bulk | undefined> {
    const { order, state, seen, changed, cursor, finishedAt } = await whileAvailable(this.#redis.hgetall(bulkKey(id)))
    if (order === undefined) return undefined
    return {
      ...storedJson<BulkOrder>(order),
      state: state === 'done' || state === 'stopped' ? state : 'running',
      seen: Number(seen),
      changed: Number(changed),
      cursor,
      finishedAt: finishedAt === undefined ? undefined : Number(finishedAt)
    }
  }

  /** Notes what was done to a page, and where the next begins. */
  async advance (id: string, { seen, changed, cursor }: { seen: number, changed: number, cursor: string | null }): Promise<void> {
    const key = bulkKey(id)
    await whileAvailable(this.#redis.hincrby(key, 'seen', seen))
    await whileAvailable(this.#redis.hincrby(key, 'changed', changed))
    if (cursor !== null) await whileAvailable(this.#redis.hset(key, 'cursor', cursor))
  }

  async finish (id: string, state: 'done' | 'stopped', at: number): Promise<void> {
    await whileAvailable(this.#redis.hset(bulkKey(id), { state, finishedAt: at }))
  }

  /** Whether it is this process's to go on with, for so many milliseconds. */
  async lease (id: string, holder: string, ms: number): Promise<boolean> {
    const key = bulkKey(`lease:${id}`)
    if (await whileAvailable(this.#redis.set(key, holder, 'PX', ms, 'NX')) === 'OK') return true
    if (await whileAvailable(this.#redis.get(key)) !== holder) return false
    return await whileAvailable(this.#redis.pexpire(key, ms)) === 1
  }

  async release (id: string): Promise<void> {
    await whileAvailable(this.#redis.del(bulkKey(`lease:${id}`)))
  }
}
