import { isRecord } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { keyPrefix } from '../redis/names.ts'
import { whileAvailable } from '../redis/unavailable.ts'

/** Something that a person or a program has changed by the API. */
export interface Change {
  /** The name of the API key. */
  key: string
  /** Whose key it is; absent for the operator's. */
  tenant?: string
  /** Such as `queue.switch`. */
  action: string
  /** The name or id of what it was done to. */
  target?: string
  about?: Record<string, string | number | boolean>
  request: string
}

interface SeenChange extends Change {
  id: string
  /** Milliseconds since 1970, by Redis. */
  at: number
}

interface ChangeQuery {
  /** The operator's when absent. */
  tenant?: string | undefined
  limit: number
  /** The `id` of an entry: those that are older. */
  before?: string | undefined
}

/** Entries that are kept of each owner, give or take some; the oldest go. */
const most = 10_000
/** How long what an owner has changed is kept after the last change, in seconds. */
const keptSec = 90 * 86_400

/** Changes by the API, and by which key. Each tenant has its own trail, so that none can push out what others have done. */
export class ChangeTrail {
  readonly #redis: Redis

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** @throws RedisUnavailableError */
  async add (change: Change): Promise<void> {
    const key = trailOf(change.tenant)
    await whileAvailable(this.#redis.xadd(key, 'MAXLEN', '~', most, '*', 'c', JSON.stringify(change)))
    await whileAvailable(this.#redis.expire(key, keptSec))
  }

  /** The latest changes of a tenant's keys, or of the operator's, the latest first. @throws RedisUnavailableError */
  async list ({ tenant, limit, before }: ChangeQuery): Promise<SeenChange[]> {
    const end = before === undefined ? '+' : `(${before}`
    const entries = await whileAvailable(this.#redis.xrevrange(trailOf(tenant), end, '-', 'COUNT', limit))
    return entries.flatMap(([id, [, text = '']]) => {
      const change: unknown = JSON.parse(text)
      // Another release may have written others.
      return isChange(change) ? [{ ...change, id, at: Number(id.split('-')[0]) }] : []
    })
  }
}

function trailOf (tenant: string | undefined): string {
  return `${keyPrefix}:changes${tenant === undefined ? '' : `:${tenant}`}`
}

function isChange (value: unknown): value is Change {
  return isRecord(value) && typeof value['key'] === 'string' && typeof value['action'] === 'string' && typeof value['request'] === 'string'
}
