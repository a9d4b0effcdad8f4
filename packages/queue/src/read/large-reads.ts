import { OwnerTurns, TurnMissedError } from '@toolyard/runtime'
import { type Redis, jobKey, RedisUnavailableError, whileAvailable } from '@toolyard/store'
import { readOptions } from '../record/new-job.ts'

/** Bytes that are read at once, whatever else is on its way. */
export const smallBytes = 4_096
/** Bytes that are on their way at once: answers come over one connection, and who waits for a small one gets it behind them. */
const mostBytes = 2_097_152
/** How long the turn of a read may take to come, in milliseconds. */
const patienceMs = 10_000

/** Which job something is of. */
export interface JobPlace {
  queue: string
  id: string
}

/**
 * Lets records, outputs and logs of jobs be read from Redis a little at a time, so that large ones of one tenant don't hold up
 * what is read of others. Tenants take turns.
 */
export class LargeReads {
  readonly #redis: Redis
  readonly #turns = new OwnerTurns(mostBytes)

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /**
   * @param bytes at most, as far as it is known.
   * @throws RedisUnavailableError, also when its turn didn't come in time; what the read throws.
   */
  async read<T> (job: JobPlace, bytes: number, read: () => Promise<T>): Promise<T> {
    if (bytes < smallBytes) return await read()
    const owner = this.#turns.hasRoom(bytes) ? '' : await this.#tenantOf(job)
    try {
      return await this.#turns.run(owner, read, { ms: patienceMs, size: bytes })
    } catch (error) {
      throw error instanceof TurnMissedError ? new RedisUnavailableError(new Error(`large records wait for more than ${patienceMs} ms to be read`)) : error
    }
  }

  async #tenantOf ({ queue, id }: JobPlace): Promise<string> {
    return readOptions(await whileAvailable(this.#redis.hget(jobKey(queue, id), 'opts'))).tenant ?? ''
  }
}
