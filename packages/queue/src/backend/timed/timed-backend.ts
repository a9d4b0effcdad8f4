import type { Redis as Server } from 'ioredis'
import type { QueueBaseOptions } from 'bullmq'
import { type Redis, keyPrefix, serverTime, required, fromRedis } from '@toolyard/store'
import { bullmq } from '../../record/bullmq.ts'

/** Where BullMQ's commands have the time, behind their name: the keys come first. */
const timePlaces: Readonly<Record<string, number>> = {
  changeDelay: 5,
  moveToActive: 12,
  moveToDelayed: 12,
  moveToFinished: 15,
  moveToWaitingChildren: 9,
  retryJob: 12
}

/** BullMQ makes a command, and sends it, within so many milliseconds. */
const soonMs = 600_000

/** What BullMQ sends its commands with. */
export type BullmqClient = Parameters<typeof bullmq.RedisQueueBackend.prototype.execCommand>[0]

/**
 * Renews the locks of jobs. Nothing in it takes memory: a Redis that is full allows it. KEYS: stalled. ARGV: stem of the
 * jobs' keys, milliseconds, then ids and tokens in turn. Answers the ids of the jobs that are somebody else's by now.
 */
const renewScript = `
local lost = {}
for place = 3, #ARGV, 2 do
  local lock = ARGV[1] .. ARGV[place] .. ':lock'
  if redis.call('GET', lock) == ARGV[place + 1] then
    redis.call('PEXPIRE', lock, ARGV[2])
    redis.call('SREM', KEYS[1], ARGV[place])
  else
    table.insert(lost, ARGV[place])
  end
end
return lost
`

/** BullMQ's answer to what took the next job: its fields, if there was one, its id, and when to ask again. */
export type NextJob<Fields> = [fields: Fields | null, id: string, limitMs: number, delayUntil: number]

/**
 * BullMQ's access to a queue, by Redis' clock: BullMQ writes the time of the machine that it runs on, and compares it
 * with what another machine wrote.
 */
export class TimedBackend extends bullmq.RedisQueueBackend {
  protected readonly redis: Redis

  constructor (redis: Redis, ...rest: ConstructorParameters<typeof bullmq.RedisQueueBackend>) {
    super(...rest)
    this.redis = redis
  }

  /** Redis' time, in milliseconds since 1970. */
  now (): number {
    return serverTime(this.redis)
  }

  override execCommand (client: BullmqClient, command: string, args: unknown[]): unknown {
    return super.execCommand(client, command, this.inServerTime(command, args))
  }

  /** @throws Error for a version of BullMQ that has no time there. */
  protected inServerTime (command: string, args: unknown[]): unknown[] {
    const place = timePlaces[command]
    if (place === undefined) return args
    if (!(Math.abs(Number(args[place]) - Date.now()) < soonMs)) throw new Error(`BullMQ's command ${command} has its time elsewhere: see packages/queue/src/backend/README.md`)
    return args.with(place, this.now())
  }

  override async extendLocks (ids: string[], tokens: string[], ms: number): Promise<string[]> {
    const held = ids.flatMap((id, place) => [id, required(tokens[place], 'the token of a job')])
    return fromRedis(await this.redis.eval(renewScript, 1, this.toKey('stalled'), this.toKey(''), ms, ...held))
  }

  override async waitForJob (blockTimeout: number): ReturnType<typeof bullmq.RedisQueueBackend.prototype.waitForJob> {
    return this.markerInLocalTime(await super.waitForJob(blockTimeout))
  }

  override async moveToActive (token: string, name?: string): ReturnType<typeof bullmq.RedisQueueBackend.prototype.moveToActive> {
    return this.inLocalTime(await super.moveToActive(token, name))
  }

  override async moveToFinished (id: string, args: Array<string | number | boolean | Buffer>): Promise<unknown[]> {
    const next: unknown[] | undefined = await super.moveToFinished(id, args)
    return next === undefined ? [] : this.inLocalTime(next)
  }

  /** A worker waits for the next delayed job by its own clock. */
  protected inLocalTime (next: readonly unknown[]): unknown[] {
    return next.map((part, place) => place === 3 ? this.#localTime(Number(part)) : part)
  }

  /** A marker has the time of the next delayed job. */
  protected markerInLocalTime<Found extends { score: number }> (found: Found | null): Found | null {
    return found === null ? null : { ...found, score: this.#localTime(found.score) }
  }

  #localTime (ms: number): number {
    return ms > 0 ? ms - this.now() + Date.now() : ms
  }
}

export function clientOn (redis: Redis): ReturnType<typeof bullmq.createIORedisClient<Server>> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- BullMQ takes clusters as well; its types don't say so.
  return bullmq.createIORedisClient(redis as Server)
}

/** Makes the backend of a worker that serves one queue of BullMQ's own making, on an open connection and one more that waits. */
export function timedBackendOn (redis: Redis): (name: string, options: QueueBaseOptions) => TimedBackend {
  return (name, options) => {
    const client = clientOn(redis)
    const keys = new bullmq.QueueKeys(keyPrefix)
    const waiting = new bullmq.RedisConnection(client.duplicate(), { blocking: true, skipVersionCheck: true })
    return new TimedBackend(
      redis, new bullmq.RedisConnection(client, { shared: true, skipVersionCheck: true }), name, keys.getKeys(name),
      type => keys.toKey(name, type), options, waiting
    )
  }
}
