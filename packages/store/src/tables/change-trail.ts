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
  /** What was done, such as `queue.switch`. */
  action: string
  /** The name or id of what it was done to. */
  target?: string
  /** What was said of it. */
  about?: Record<string, string | number | boolean>
  /** The id of the request. */
  request: string
}

export interface SeenChange extends Change {
  id: string
  /** Milliseconds since 1970, by Redis. */
  at: number
}

/** Which changes a list shall have. */
export interface ChangeQuery {
  tenant?: string | undefined
  limit: number
  /** The `id` of an entry: those that are older. */
  before?: string | undefined
}

const changesKey = `${keyPrefix}:changes`
/** Entries that are kept, give or take some; the oldest go. */
const most = 10_000
/** Entries that are read at a time. */
const pageSize = 500

/** What was changed by the API, and by which key. */
export class ChangeTrail {
  readonly #redis: Redis

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** @throws RedisUnavailableError */
  async add (change: Change): Promise<void> {
    await whileAvailable(this.#redis.xadd(changesKey, 'MAXLEN', '~', most, '*', 'c', JSON.stringify(change)))
  }

  /**
   * The latest changes first, of a tenant's keys or of all.
   *
   * @throws RedisUnavailableError
   */
  async list ({ tenant, limit, before }: ChangeQuery): Promise<SeenChange[]> {
    const found: SeenChange[] = []
    for (let end = before === undefined ? '+' : `(${before}`; found.length < limit;) {
      const entries = await whileAvailable(this.#redis.xrevrange(changesKey, end, '-', 'COUNT', pageSize))
      for (const [id, [, text = '']] of entries) {
        const change: unknown = JSON.parse(text)
        // Another release may have written others.
        if (isChange(change) && (tenant === undefined || change.tenant === tenant)) found.push({ ...change, id, at: Number(id.split('-')[0]) })
      }
      const [last] = entries.at(-1) ?? []
      if (last === undefined || entries.length < pageSize) break
      end = `(${last}`
    }
    return found.slice(0, limit)
  }
}

function isChange (value: unknown): value is Change {
  return isRecord(value) && typeof value['key'] === 'string' && typeof value['action'] === 'string' && typeof value['request'] === 'string'
}
