import { isRecord, HttpError, streamTokenParam, type SseTokenResponse } from '@toolyard/contract'
import type { StreamTickets } from '@toolyard/store'
import type { FastifyRequest } from 'fastify'
import { createHmac, randomBytes } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'
import type { Principal } from './principal.ts'

/** Bytes of a token, which is written in hexadecimal digits. */
const tokenBytes = 24
const tokenPattern = /^[0-9a-f]{48}$/

/**
 * Issues tickets for event streams and takes them back. A ticket is good for as long as its time lasts, so that a
 * browser can connect again; what its holder may see is looked up at each use, by the key as it is configured then.
 */
export class StreamTicketIssuer {
  readonly #tickets: StreamTickets
  readonly #keys: KeyRing
  readonly #ttlSec: number

  constructor (tickets: StreamTickets, keys: KeyRing, ttlSec: number) {
    this.#tickets = tickets
    this.#keys = keys
    this.#ttlSec = ttlSec
  }

  /**
   * @param jobId the only job that the ticket is for; null means all that the key may see.
   * @throws RedisUnavailableError
   */
  async issue (principal: Principal, jobId: string | null): Promise<SseTokenResponse> {
    const token = randomBytes(tokenBytes).toString('hex')
    const keyProof = proofOf(token, principal.proof)
    const endsAt = await this.#tickets.save(token, { keyName: principal.name, keyProof, jobId }, this.#ttlSec)
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
    const principal = grant === undefined ? undefined : await this.#keys.named(grant.keyName)
    if (grant === undefined || principal === undefined || grant.keyProof !== proofOf(token, principal.proof)) return undefined
    const id = isRecord(request.params) ? request.params['id'] : undefined
    if (grant.jobId !== null && grant.jobId !== id) throw new HttpError('FORBIDDEN', 'This stream token is for another job.')
    return principal
  }
}

/** Changes with the key's value: a ticket of a key that was replaced is worth nothing. */
function proofOf (token: string, proof: string): string {
  return createHmac('sha256', token).update(proof).digest('base64url')
}
