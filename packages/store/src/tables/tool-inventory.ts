import { createHash } from 'node:crypto'
import type { Redis } from '../redis/connection.ts'
import { inventoryKey } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { whileAvailable } from '../redis/unavailable.ts'
import { BoundedMap } from '../redis/bounded-map.ts'
import { listWorkers } from './worker-records.ts'

/** The tools that a worker has. Stored once for all workers that have the same. */
export interface ToolInventory {
  /** Names what is in it. */
  id: string
  /** The version of each tool, by the tool's name. */
  versions: ReadonlyMap<string, string>
}

interface ToolNeed {
  tool: string
  version: string
  /** The queue that the worker must serve. */
  queue: string
}

/** An inventory that no worker has any more is forgotten after so long. */
const keptSec = 60
/** An answer is used for so long, in milliseconds: jobs of a rollout come by the hundred. */
const freshMs = 500
/** How many workers' records are looked at. */
const mostWorkers = 1_000

export function inventoryOf (versions: ReadonlyMap<string, string>): ToolInventory {
  const sorted = [...versions].sort(([a], [b]) => a < b ? -1 : 1)
  return { id: createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16), versions }
}

/** The tools of the workers of a pool: they differ while a new version is rolled out. */
export class ToolInventories {
  readonly #redis: Redis
  readonly #answers = new BoundedMap<{ found: boolean, askedAt: number }>(() => ({ found: false, askedAt: -Infinity }))

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /** Redis' time, in milliseconds since 1970. */
  now (): number {
    return serverTime(this.#redis)
  }

  /**
   * Keeps an inventory that a worker has.
   *
   * @throws RedisUnavailableError
   */
  async store ({ id, versions }: ToolInventory): Promise<void> {
    const key = inventoryKey(id)
    if (versions.size === 0 || await whileAvailable(this.#redis.expire(key, keptSec)) === 1) return
    await whileAvailable(this.#redis.hset(key, Object.fromEntries(versions)))
    await whileAvailable(this.#redis.expire(key, keptSec))
  }

  /**
   * Whether a living worker whose inventory isn't `own` has the very version of a tool that is needed.
   *
   * @throws RedisUnavailableError
   */
  async hasElsewhere (need: ToolNeed, own: string): Promise<boolean> {
    const answer = this.#answers.of(JSON.stringify([need, own]))
    if (performance.now() - answer.askedAt > freshMs) {
      answer.found = await this.#look(need, own)
      answer.askedAt = performance.now()
    }
    return answer.found
  }

  async #look ({ tool, version, queue }: ToolNeed, own: string): Promise<boolean> {
    const { workers } = await listWorkers(this.#redis, mostWorkers)
    const others = workers.filter(({ queues, tools, drain }) => drain === 'none' && tools !== own && (queues.includes('*') || queues.includes(queue)))
    for (const id of new Set(others.map(({ tools }) => tools))) {
      if (await whileAvailable(this.#redis.hget(inventoryKey(id), tool)) === version) return true
    }
    return false
  }
}
