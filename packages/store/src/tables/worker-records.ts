import type { WorkerRecord } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { workersKey } from '../redis/names.ts'
import { serverTime } from '../redis/server-clock.ts'
import { whileAvailable } from '../redis/unavailable.ts'
import { goOnWhenFull } from '../redis/commands/when-full.ts'
import { fromRedis } from '../redis/from-redis.ts'
import { isTexts, readStored } from '../redis/stored.ts'

/** A worker that wasn't heard of for so long is gone. */
const aliveMs = 5_000
const beatMs = 1_500
/** One that is gone, and didn't leave, is remembered for so long; the last so many. */
const lostMs = 15 * 60_000
const mostLost = 100

/** Redis' own clock: those of machines differ. Records of workers that are gone for long are removed on the way. */
const beatScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function forget (ids)
  for _, id in ipairs(ids) do
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[2], id)
  end
end
forget(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ${lostMs}))
local lost = redis.call('ZCOUNT', KEYS[1], '-inf', now - ${aliveMs})
if lost > ${mostLost} then forget(redis.call('ZRANGE', KEYS[1], 0, lost - ${mostLost} - 1)) end
${goOnWhenFull('KEYS[1]')}
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
`

const listScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local from, to = now - ${aliveMs}, '+inf'
if ARGV[2] == 'lost' then from, to = now - ${lostMs}, '(' .. string.format('%.0f', from) end
local seen = redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[1]))
local ids, times = {}, {}
for at = 1, #seen, 2 do
  table.insert(ids, seen[at])
  table.insert(times, seen[at + 1])
end
local answer = { redis.call('ZCOUNT', KEYS[1], from, to) }
if #ids > 0 then
  for place, record in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
    table.insert(answer, times[place])
    table.insert(answer, record)
  end
end
return answer
`

const leaveScript = `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
`

const keys = [workersKey('seen'), workersKey('records')] as const

/** A worker that is alive, and when it was heard of last, by Redis' clock, in milliseconds since 1970. */
export interface SeenWorker extends WorkerRecord {
  seenAt: number
}

/** One worker's record in Redis: kept fresh while the worker lives; one that is 5 s old is a lost worker's. */
export class WorkerHeartbeat {
  readonly #redis: Redis
  readonly #id: string
  readonly #record: () => Promise<Omit<WorkerRecord, 'startedAt'>>
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #hasStopped = false
  #beating: Promise<void> = Promise.resolve()

  /** @param record the worker's record as it is now, asked for at each beat. */
  constructor (redis: Redis, id: string, record: () => Promise<Omit<WorkerRecord, 'startedAt'>>, onError: (error: unknown) => void) {
    this.#redis = redis
    this.#id = id
    this.#record = record
    this.#onError = onError
  }

  /** Fulfilled when the record is there, or could not be written: the next beat tries again. */
  async start (): Promise<void> {
    if (this.#hasStopped) return
    this.#startedAt = serverTime(this.#redis)
    this.#timer ??= setInterval(() => { this.#beating = this.#beat() }, beatMs).unref()
    this.#beating = this.#beat()
    await this.#beating
  }

  /** Removes the record. */
  async stop (): Promise<void> {
    this.#hasStopped = true
    clearInterval(this.#timer)
    // What it writes after the worker has left would be a lost worker's. Without Redis, nobody waits for it.
    const left = this.#beating.then(async () => await this.#redis.eval(leaveScript, keys.length, ...keys, this.#id))
    await whileAvailable(left).catch(this.#onError)
  }

  async #beat (): Promise<void> {
    // A connection that is away would keep each beat, and send them all when it is back.
    if (this.#redis.status !== 'ready') return
    try {
      const record: WorkerRecord = { ...await this.#record(), startedAt: new Date(this.#startedAt).toISOString() }
      await this.#redis.eval(beatScript, keys.length, ...keys, this.#id, JSON.stringify(record))
    } catch (error) {
      this.#onError(error)
    }
  }
}

/**
 * The workers that are alive, or those that went away in the last 15 minutes without leaving: how many there are, and the
 * records of at most `most` of them, those that were heard of last at the end.
 *
 * @throws RedisUnavailableError
 */
export async function listWorkers (
  redis: Redis, most: number, which: 'alive' | 'lost' = 'alive'
): Promise<{ count: number, workers: SeenWorker[] }> {
  const [count, ...found] = fromRedis<[number, ...Array<string | null>]>(
    await whileAvailable(redis.eval(listScript, keys.length, ...keys, most, which))
  )
  const workers = found.flatMap((record, place) => (
    place % 2 === 0 || record === null ? [] : [{ ...readStored('the record of a worker', record, isWorkerRecord), seenAt: Number(found[place - 1]) }]
  ))
  return { count, workers }
}

/** As far as every release writes it. */
function isWorkerRecord (value: unknown): value is WorkerRecord {
  return isRecord(value) && typeof value['id'] === 'string' && typeof value['startedAt'] === 'string' && isTexts(value['queues'])
}
