import { createHash } from 'node:crypto'
import { isRecord } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { streamTicketKey } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { readStored } from '../redis/stored.ts'
import { whileAvailable } from '../redis/unavailable.ts'

export interface StreamGrant {
  /** Name of the API key that it was issued to. */
  keyName: string
  /** Ties the ticket to that key's value without telling it. */
  keyProof: string
  /** The only job that it is for; null means all that the key may see. */
  jobId: string | null
}

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
    await whileAvailable(this.#redis.set(streamTicketKey(digest(token)), JSON.stringify(grant), 'EX', ttlSec))
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
