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
/** One that is gone is remembered for so long: the last so many that left, and as many that were lost. */
const goneMs = 7 * 86_400_000
const mostGone = 100

/** Redis' own clock: those of machines differ. */
const nowLines = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** Removes the records of workers that are gone for long. */
const forgetLines = `
local function forget (key, ids)
  for _, id in ipairs(ids) do
    redis.call('ZREM', key, id)
    redis.call('HDEL', KEYS[2], id)
    redis.call('HDEL', KEYS[3], id)
  end
end
local function forgetOld (key, to)
  forget(key, redis.call('ZRANGEBYSCORE', key, '-inf', now - ${goneMs}))
  local gone = redis.call('ZCOUNT', key, '-inf', to)
  if gone > ${mostGone} then forget(key, redis.call('ZRANGE', key, 0, gone - ${mostGone} - 1)) end
end
`

/** Answers when the worker was told to take no jobs; nothing where it may take some. */
const beatScript = `
${nowLines}${forgetLines}
forgetOld(KEYS[1], now - ${aliveMs})
${goOnWhenFull('KEYS[1]')}
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[3], ARGV[1])
`

const listScript = `
${nowLines}
local from = now - ${aliveMs}
local answer = { redis.call('ZCOUNT', KEYS[1], from, '+inf') }
local seen = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', 0, tonumber(ARGV[1]))
for at = 1, #seen, 2 do
  table.insert(answer, seen[at + 1])
  table.insert(answer, redis.call('HGET', KEYS[2], seen[at]))
  table.insert(answer, redis.call('HGET', KEYS[3], seen[at]))
end
return answer
`

const goneScript = `
${nowLines}
local answer = {}
local function add (key, to, how)
  local ids = redis.call('ZREVRANGEBYSCORE', key, to, now - ${goneMs}, 'WITHSCORES', 'LIMIT', 0, ${mostGone})
  for at = 1, #ids, 2 do
    table.insert(answer, ids[at + 1])
    table.insert(answer, redis.call('HGET', KEYS[2], ids[at]))
    table.insert(answer, how)
  end
end
add(KEYS[1], '(' .. string.format('%.0f', now - ${aliveMs}), 'lost')
add(KEYS[4], '+inf', 'left')
return answer
`

const leaveScript = `
${nowLines}${forgetLines}
redis.call('HDEL', KEYS[3], ARGV[1])
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
${goOnWhenFull('KEYS[4]')}
redis.call('ZADD', KEYS[4], now, ARGV[1])
forgetOld(KEYS[4], '+inf')
return 1
`

const drainScript = `
${nowLines}
local seen = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not seen or tonumber(seen) < now - ${aliveMs} then return 0 end
if ARGV[2] == '1' then redis.call('HSETNX', KEYS[3], ARGV[1], string.format('%.0f', now)) else redis.call('HDEL', KEYS[3], ARGV[1]) end
return 1
`

const keys = [workersKey('seen'), workersKey('records'), workersKey('drained'), workersKey('left')] as const

/** A worker that is alive, and when it was heard of last, by Redis' clock, in milliseconds since 1970. */
export interface SeenWorker extends WorkerRecord {
  seenAt: number
  /** Whether an operator wants it to take no jobs, and whether it has heard of that, with its last sign of life but one. */
  drain: 'none' | 'told' | 'heard'
}

/** A worker that told that it leaves, or that was lost. */
export interface GoneWorkerRecord extends WorkerRecord {
  seenAt: number
  how: 'left' | 'lost'
}

type BeatRecord = Omit<WorkerRecord, 'startedAt' | 'heardDrain'>

/**
 * One worker's record in Redis: kept fresh while the worker lives; one that is 5 s old is a lost worker's. By it the worker
 * hears that it is drained, or resumed.
 */
export class WorkerHeartbeat {
  readonly #redis: Redis
  readonly #id: string
  readonly #record: () => Promise<BeatRecord>
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #hasStopped = false
  #heardDrain = ''
  #beating: Promise<void> = Promise.resolve()

  /** @param record the worker's record as it is now, asked for at each beat. */
  constructor (redis: Redis, id: string, record: () => Promise<BeatRecord>, onError: (error: unknown) => void) {
    this.#redis = redis
    this.#id = id
    this.#record = record
    this.#onError = onError
  }

  /** An operator wants this worker to take no jobs. */
  get isDrained (): boolean {
    return this.#heardDrain !== ''
  }

  /** Fulfilled when the record is there, or could not be written: the next beat tries again. */
  async start (): Promise<void> {
    if (this.#hasStopped) return
    this.#startedAt = serverTime(this.#redis)
    this.#timer ??= setInterval(() => { this.#beating = this.#beat() }, beatMs).unref()
    this.#beating = this.#beat()
    await this.#beating
  }

  /** Lets the record be that of a worker that has left. */
  async stop (): Promise<void> {
    this.#hasStopped = true
    clearInterval(this.#timer)
    // A beat after the worker has left would be a lost worker's. Without Redis, nobody waits for it.
    const left = this.#beating.then(async () => await this.#redis.eval(leaveScript, keys.length, ...keys, this.#id))
    await whileAvailable(left).catch(this.#onError)
  }

  async #beat (): Promise<void> {
    // A connection that is away would keep each beat, and send them all when it is back.
    if (this.#redis.status !== 'ready') return
    try {
      const startedAt = new Date(this.#startedAt).toISOString()
      const record: WorkerRecord = { ...await this.#record(), startedAt, heardDrain: this.#heardDrain }
      this.#heardDrain = fromRedis<string | null>(await this.#redis.eval(beatScript, keys.length, ...keys, this.#id, JSON.stringify(record))) ?? ''
    } catch (error) {
      this.#onError(error)
    }
  }
}

/**
 * The workers that are alive: how many there are, and the records of at most `most` of them, those that were heard of last
 * at the end.
 *
 * @throws RedisUnavailableError
 */
export async function listWorkers (redis: Redis, most: number): Promise<{ count: number, workers: SeenWorker[] }> {
  const [count, ...found] = fromRedis<[number, ...Array<string | number | null>]>(
    await whileAvailable(redis.eval(listScript, keys.length, ...keys, most))
  )
  return { count, workers: readRecords(found).map(([record, seenAt, toldAt]) => ({ ...record, seenAt, drain: drainOf(record, toldAt) })) }
}

/** A worker that was resumed and drained again in between still tells of the time before. */
function drainOf ({ heardDrain }: WorkerRecord, toldAt: string | number | null): SeenWorker['drain'] {
  if (toldAt === null) return 'none'
  return heardDrain === toldAt ? 'heard' : 'told'
}

/** The last workers that left or were lost, the latest first. @throws RedisUnavailableError */
export async function listGoneWorkers (redis: Redis): Promise<GoneWorkerRecord[]> {
  const found = fromRedis<Array<string | number | null>>(await whileAvailable(redis.eval(goneScript, keys.length, ...keys)))
  const gone = readRecords(found).map(([record, seenAt, how]): GoneWorkerRecord => ({ ...record, seenAt, how: how === 'left' ? 'left' : 'lost' }))
  return gone.sort((a, b) => b.seenAt - a.seenAt).slice(0, mostGone)
}

/** Lets a worker take no more jobs, or take them again. False where no such worker is alive. @throws RedisUnavailableError */
export async function drainWorker (redis: Redis, id: string, isDrained: boolean): Promise<boolean> {
  return await whileAvailable(redis.eval(drainScript, keys.length, ...keys, id, isDrained ? '1' : '0')) === 1
}

/** Of an answer of threes: when a worker was seen, its record, and one thing more. */
function readRecords (found: ReadonlyArray<string | number | null>): Array<[WorkerRecord, number, string | number | null]> {
  const threes = Array.from({ length: found.length / 3 }, (_, place) => found.slice(3 * place, 3 * place + 3))
  return threes.flatMap(([seenAt, record, more = null]) => (
    typeof record !== 'string' ? [] : [[readStored('the record of a worker', record, isWorkerRecord), Number(seenAt), more]]
  ))
}

/** As far as every release writes it. */
function isWorkerRecord (value: unknown): value is WorkerRecord {
  return isRecord(value) && typeof value['id'] === 'string' && typeof value['startedAt'] === 'string' && isTexts(value['queues'])
}
