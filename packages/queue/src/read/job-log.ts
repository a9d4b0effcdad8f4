import type { LogEntry } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import { type Redis, jobLogKey, whileAvailable, fromRedis, readStored } from '@toolyard/store'
import type { LargeReads } from './large-reads.ts'

/** What a line is taken for before it is read. */
const lineBytes = 1_024

type StoredLine = [id: string, pairs: string[]]

/** Reads the logs of jobs; each log is a Redis stream beside its job, and a line's id is its id in the stream. */
export class JobLogs {
  readonly #redis: Redis
  readonly #reads: LargeReads

  constructor (redis: Redis, reads: LargeReads) {
    this.#redis = redis
    this.#reads = reads
  }

  /**
   * The next lines after the line `after`, at most `count`, in order.
   *
   * @throws RedisUnavailableError
   */
  async after (queue: string, jobId: string, after: string, count: number): Promise<LogEntry[]> {
    const read = async (): Promise<StoredLine[]> => await whileAvailable(this.#redis.xrange(jobLogKey(queue, jobId), `(${after}`, '+', 'COUNT', count))
    return (await this.#reads.read({ queue, id: jobId }, count * lineBytes, read)).map(toEntry)
  }

  /**
   * The last lines, at most `count`, in order.
   *
   * @throws RedisUnavailableError
   */
  async tail (queue: string, jobId: string, count: number): Promise<LogEntry[]> {
    const read = async (): Promise<StoredLine[]> => await whileAvailable(this.#redis.xrevrange(jobLogKey(queue, jobId), '+', '-', 'COUNT', count))
    return (await this.#reads.read({ queue, id: jobId }, count * lineBytes, read)).reverse().map(toEntry)
  }
}

function toEntry ([id, pairs]: StoredLine): LogEntry {
  const fields = new Map(pairs.flatMap((name, index) => index % 2 === 0 ? [[name, pairs[index + 1] ?? ''] as const] : []))
  const meta = fields.get('meta')
  return {
    id,
    ts: fields.get('ts') ?? '',
    level: fromRedis(fields.get('level') ?? 'info'),
    message: fields.get('message') ?? '',
    meta: meta === undefined ? null : readStored('what a line of a log says beside its message', meta, isRecord)
  }
}
