import { HttpError, type JobCounts, type JobListQuery } from '@toolyard/contract'
import { CursorError, type JobLister } from '@toolyard/queue'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { principalOf, scopeOf } from '../../access/principal.ts'
import { askerOf, inTime } from '../../plugins/list-turns.ts'

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
