import { isRecord, HttpError, streamTokenParam, type SseTokenResponse } from '@toolyard/contract'
import type { StreamTickets } from '@toolyard/queue'
import type { ApiKey } from '@toolyard/runtime'
import type { FastifyRequest } from 'fastify'
import { createHmac, randomBytes } from 'node:crypto'
import { principalOfKey, type Principal } from './principal.ts'

/** Bytes of a token, which is written in hexadecimal digits (RC28). */
const tokenBytes = 24
const tokenPattern = /^[0-9a-f]{48}$/

/**
 * Issues tickets for event streams and takes them back. A ticket is good for as long as its time lasts, so that a
 * browser can connect again; what its holder may see is looked up at each use, by the key as it is configured then.
 */
export class TicketOffice {
  readonly #tickets: StreamTickets
  readonly #keys: ReadonlyMap<string, ApiKey>
  readonly #ttlSec: number

  constructor (tickets: StreamTickets, keys: readonly ApiKey[], ttlSec: number) {
    this.#tickets = tickets
    this.#keys = new Map(keys.map(key => [key.name, key]))
    this.#ttlSec = ttlSec
  }

  /**
   * @param jobId the only job that the ticket is for; null means all that the key may see.
   * @throws RedisUnavailableError
   */
  async issue (principal: Principal, jobId: string | null): Promise<SseTokenResponse> {
    const token = randomBytes(tokenBytes).toString('hex')
    const endsAt = await this.#tickets.save(
      token, { keyName: principal.name, keyProof: this.#proof(token, principal.name), jobId }, this.#ttlSec
    )
    return {
      ok: true,
      token,
      token_param: streamTokenParam,
      ttl_sec: this.#ttlSec,
      expires_at: new Date(endsAt).toISOString(),
      job_id: jobId
    }
  }

  /**
   * Who a request with a ticket comes from; undefined when it has none, or none that is valid.
   *
   * @throws HttpError `FORBIDDEN` for the stream of another job; RedisUnavailableError.
   */
  async principalOf (request: FastifyRequest): Promise<Principal | undefined> {
    const token = isRecord(request.query) ? request.query[streamTokenParam] : undefined
    if (typeof token !== 'string' || !tokenPattern.test(token)) return undefined
    const grant = await this.#tickets.find(token)
    const key = this.#keys.get(grant?.keyName ?? '')
    if (grant === undefined || key === undefined || grant.keyProof !== this.#proof(token, key.name)) return undefined
    const id = isRecord(request.params) ? request.params['id'] : undefined
    if (grant.jobId !== null && grant.jobId !== id) throw new HttpError('FORBIDDEN', 'This stream token is for another job.')
    return principalOfKey(key)
  }

  /** Changes with the key's value: a ticket of a key that was replaced is worth nothing. */
  #proof (token: string, keyName: string): string {
    return createHmac('sha256', token).update(this.#keys.get(keyName)?.key ?? '').digest('base64url')
  }
}
