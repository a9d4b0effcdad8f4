import { HttpError, type JobCounts, type JobListQuery } from '@toolyard/contract'
import { CursorError, listPatienceMs, type Asker, type JobLister } from '@toolyard/queue'
import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ownerOfKey, principalOf, scopeOf } from '../../access/principal.ts'
import { abandoned } from '../../plugins/abandoned.ts'

/** Reads lists of jobs for requests. */
export class JobLists {
  readonly #lister: Pick<JobLister, 'list' | 'count'>

  constructor (lister: Pick<JobLister, 'list' | 'count'>) {
    this.#lister = lister
  }

  /** @throws HttpError `VALIDATION_ERROR`, `UNAVAILABLE`; RedisUnavailableError. */
  async list (query: JobListQuery, request: FastifyRequest, reply: FastifyReply): ReturnType<JobLister['list']> {
    try {
      return await inTime(async () => await this.#lister.list(query, scopeOf(principalOf(request)), askerOf(request, reply)))
    } catch (error) {
      throw error instanceof CursorError ? new HttpError('VALIDATION_ERROR', error.message) : error
    }
  }

  /** @throws HttpError `UNAVAILABLE`; RedisUnavailableError. */
  async count (query: JobListQuery, request: FastifyRequest, reply: FastifyReply): Promise<Omit<JobCounts, 'ok'>> {
    return await inTime(async () => await this.#lister.count(query, scopeOf(principalOf(request)), askerOf(request, reply)))
  }
}

export function askerOf (request: FastifyRequest, reply: FastifyReply): Asker {
  return { owner: ownerOfKey(principalOf(request)), signal: abandoned(reply.raw) }
}

/**
 * Lets one request at a time read a list, and owners take turns: what Redis answers to thousands at once holds up its answers to calls,
 * until they count as lost.
 */
export class RequestTurns {
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
