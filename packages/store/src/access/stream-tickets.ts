import { createHash } from 'node:crypto'
import { isRecord } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { fromRedis } from '../redis/from-redis.ts'
import { keyPrefix, streamTicketKey } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { readStored } from '../redis/stored.ts'
import { whileAvailable } from '../redis/unavailable.ts'

interface StreamGrant {
  /** Name of the API key that it was issued to. */
  keyName: string
  /** Ties the ticket to that key's value without telling it. */
  keyProof: string
  /** The only job that it is for; null means all that the key may see. */
  jobId: string | null
}

/** Tickets of one key that are good at once: beyond them, the oldest is good no more. */
export const maxStreamTickets = 10_000

/** KEYS: tickets of a key. ARGV: ticket, its seconds, how many there may be. Answers those for which there is no room any more. */
const keepScript = `
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
local over = redis.call('ZCARD', KEYS[1]) - ARGV[3]
if over <= 0 then return {} end
local left = redis.call('ZRANGE', KEYS[1], 0, over - 1)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, over - 1)
return left
`

/** Tickets for event streams, valid on every API process. Redis never sees a token, only its digest. */
export class StreamTickets {
  readonly #redis: Redis

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /**
   * @returns when it ends, in milliseconds since 1970 by Redis' clock.
   * @throws RedisUnavailableError
   */
  async save (token: string, grant: StreamGrant, ttlSec: number): Promise<number> {
    const ticket = digest(token)
    const keeping = this.#redis.eval(keepScript, 1, `${keyPrefix}:tickets:${grant.keyName}`, ticket, ttlSec, maxStreamTickets)
    const left = fromRedis<string[]>(await whileAvailable(keeping))
    const keys = left.map(streamTicketKey)
    await whileAvailable(Promise.all([
      this.#redis.set(streamTicketKey(ticket), JSON.stringify(grant), 'EX', ttlSec), ...keys.map(async key => await this.#redis.unlink(key))
    ]))
    return serverTime(this.#redis) + ttlSec * 1_000
  }

  /**
   * @returns undefined for a token that was never issued, or whose time is over.
   * @throws RedisUnavailableError
   */
  async find (token: string): Promise<StreamGrant | undefined> {
    const grant = await whileAvailable(this.#redis.get(streamTicketKey(digest(token))))
    return grant === null ? undefined : readStored('a stream ticket', grant, isGrant)
  }
}

function isGrant (value: unknown): value is StreamGrant {
  return isRecord(value) && typeof value['keyName'] === 'string' && typeof value['keyProof'] === 'string' && (value['jobId'] === null || typeof value['jobId'] === 'string')
}

function digest (token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
