import { HttpError, type JobCounts, type JobListQuery } from '@toolyard/contract'
import { CursorError, type JobLister } from '@toolyard/queue'
import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'
import { ownerOf } from '@toolyard/store'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { principalOf, scopeOf } from '../../access/principal.ts'
import { abandoned } from '../../plugins/abandoned.ts'

/** Lists that are read at once: one that looks for a text reads thousands of records, and Redis does one command at a time. */
const mostAtOnce = 2
/** How long the turn of a list may take to come, in milliseconds. */
const patienceMs = 10_000

/** Reads lists of jobs, a few at a time. Tenants and keys take turns, so that who reads many holds up neither calls nor lists of others. */
export class JobLists {
  readonly #lister: Pick<JobLister, 'list' | 'count'>
  readonly #turns = new OwnerTurns(mostAtOnce)

  constructor (lister: Pick<JobLister, 'list' | 'count'>) {
    this.#lister = lister
  }

  /** @throws HttpError `VALIDATION_ERROR`, `UNAVAILABLE`; RedisUnavailableError. */
  async list (query: JobListQuery, request: FastifyRequest, reply: FastifyReply): ReturnType<JobLister['list']> {
    try {
      return await this.#inTurn(request, reply, async () => await this.#lister.list(query, scopeOf(principalOf(request))))
    } catch (error) {
      throw error instanceof CursorError ? new HttpError('VALIDATION_ERROR', error.message) : error
    }
  }

  /** @throws HttpError `UNAVAILABLE`; RedisUnavailableError. */
  async count (query: JobListQuery, request: FastifyRequest, reply: FastifyReply): Promise<Omit<JobCounts, 'ok'>> {
    return await this.#inTurn(request, reply, async () => await this.#lister.count(query, scopeOf(principalOf(request))))
  }

  async #inTurn<T> (request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    const { tenant, name } = principalOf(request)
    try {
      return await this.#turns.run(ownerOf({ tenant, keyName: name }), work, { ms: patienceMs, signal: abandoned(reply.raw) })
    } catch (error) {
      if (!(error instanceof TurnMissedError)) throw error
      throw new HttpError('UNAVAILABLE', `Too many lists of jobs are asked for at once: the turn of this one did not come within ${patienceMs / 1_000} s. Ask again.`)
    }
  }
}
