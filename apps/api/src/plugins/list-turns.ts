import { HttpError } from '@toolyard/contract'
import { listPatienceMs, type Asker } from '@toolyard/queue'
import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ownerOfKey, principalOf } from '../access/principal.ts'
import { abandoned } from './abandoned.ts'

export function askerOf (request: FastifyRequest, reply: FastifyReply): Asker {
  return { owner: ownerOfKey(principalOf(request)), signal: abandoned(reply.raw) }
}

/**
 * Lets one request at a time read a list, and owners take turns: what Redis answers to thousands at once holds up its answers to calls,
 * until they count as lost.
 */
export class ListTurns {
  readonly #turns = new OwnerTurns(1)

  /** @throws HttpError `UNAVAILABLE`; what the work throws. */
  async run<T> (request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    const { owner, signal } = askerOf(request, reply)
    return await inTime(async () => await this.#turns.run(owner, work, { ms: listPatienceMs, ...signal !== undefined && { signal } }))
  }
}

/** Says it where the turn of a list did not come. @throws HttpError `UNAVAILABLE`; what the work throws. */
export async function inTime<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TurnMissedError)) throw error
    throw new HttpError('UNAVAILABLE', `Too many lists, or statistics, are asked for at once: the turn of this one did not come within ${listPatienceMs / 1_000} s. Ask again.`)
  }
}
