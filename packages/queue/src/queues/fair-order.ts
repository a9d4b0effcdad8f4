import { grouped, limits } from '@toolyard/contract/terms'
import { arrivals, maxTurn, turnsKeptSec } from '../record/turn.ts'
import { type Redis, fairKey, queueKey, whileAvailable, BoundedMap, fromRedis } from '@toolyard/store'

/*
 * Jobs of one queue and one priority are served fairly by tenant and API key (start-time fair queueing). A job's turn is
 * one more than the last turn of its key, and at least the least turn that waits now. Where n keys of one tenant have
 * jobs, each takes every n-th turn: together they get as many as one. Turns begin at 1 again when no job of that priority
 * waits. After `maxTurn` turns without a pause, jobs are served in the order of arrival.
 *
 * A process publishes its turns and asks for those of others soon after an add. It asks before an add only when what it
 * knows is old. A missed turn costs a little fairness only. See docs/decisions/0011-fair-order.md.
 */

/** Jobs come and go: what a process knows is used for so long, in milliseconds. */
const freshMs = 1_000
/** The longest time until other processes know of turns, in milliseconds. */
const publishMs = 20
/**
 * Keys of one tenant that are counted in one queue: 10,000 held up Redis for 37 to 117 ms at each look. Those beyond have
 * turns beside the others, so that the tenant has a little more of them.
 */
const maxSharing = 200

/**
 * KEYS: prioritized, last turns: of a key, or as JSON of all keys of a tenant. ARGV: least and greatest score, the API
 * key's name, the last turn that it has taken, its tenant or nothing. Answers the least turn that waits, the key's last
 * one, and how many keys share the tenant's turns; 0, 0 and 1 when nothing waits.
 */
const lookScript = `
local first = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES', 'LIMIT', 0, 1)
if #first == 0 then
  redis.call('DEL', KEYS[2])
  return {0, 0, 1}
end
local least = math.floor((tonumber(first[2]) - tonumber(ARGV[1])) / 4294967296) + 1
local key, last, sharing = ARGV[3], tonumber(ARGV[4]), 1
if ARGV[5] == '' then
  last = math.max(tonumber(redis.call('HGET', KEYS[2], key) or '0'), last)
  redis.call('HSET', KEYS[2], key, last)
else
  local field = '@' .. ARGV[5]
  local known = cjson.decode(redis.call('HGET', KEYS[2], field) or '{}')
  last = math.max(known[key] or 0, last)
  local turns = {[key] = last}
  for other, taken in pairs(known) do
    if sharing == ${maxSharing} then break end
    if other ~= key and taken >= least then
      turns[other] = taken
      sharing = sharing + 1
    end
  end
  redis.call('HSET', KEYS[2], field, cjson.encode(turns))
end
redis.call('EXPIRE', KEYS[2], ${turnsKeptSec})
return {least, last, sharing}
`

/** The jobs whose turns are taken: those of one queue, priority and API key. */
export interface Line {
  queue: string
  /** 0..10, higher first. */
  priority: number
  keyName: string
  tenant: string | undefined
}

interface LineView {
  least: number
  last: number
  /** Keys of the tenant that have jobs there, this one among them. */
  sharing: number
  readAt: number
  /** How often turns were taken, and how many of these adds are on their way. */
  takes: number
  adding: number
  /** When other processes will get a message. */
  publishTimer: NodeJS.Timeout | undefined
}

export interface Turns {
  /** BullMQ's priorities for the jobs, in order; low numbers are served first. */
  priorities: number[]
  /** Tells all processes of the turns. Call it once, when the jobs were added or could not be. */
  settle: () => void
}

export class FairOrder {
  readonly #redis: Redis
  readonly #views = new BoundedMap<LineView>(() => ({
    least: 0, last: 0, sharing: 1, readAt: -Infinity, takes: 0, adding: 0, publishTimer: undefined
  }))

  constructor (redis: Redis) {
    this.#redis = redis
  }

  /**
   * Takes turns for jobs that are about to be added.
   *
   * @throws RedisUnavailableError
   */
  async take (line: Line, count: number): Promise<Turns> {
    const view = this.#views.of(JSON.stringify([line.queue, line.priority, line.tenant, line.keyName]))
    if (view.adding === 0 && performance.now() - view.readAt > freshMs) await this.#read(line, view, 0)
    const { least, last, sharing } = view
    const first = Math.max(least + sharing - 1, last + sharing, 1)
    view.last = first + (count - 1) * sharing
    view.takes++
    view.adding++
    return {
      priorities: Array.from({ length: count }, (_, index) => bandOf(line.priority) + Math.min(first + index * sharing, maxTurn)),
      settle: () => {
        view.adding--
        // Adds come in bunches: their turns are sent together.
        view.publishTimer ??= setTimeout(() => {
          view.publishTimer = undefined
          this.#read(line, view, view.last).catch(() => {})
        }, publishMs).unref()
      }
    }
  }

  async #read (line: Line, view: LineView, last: number): Promise<void> {
    const { takes, adding } = view
    const [least, lastOfAll, sharing] = await this.#look(line, last)
    view.least = least
    view.sharing = sharing
    // If nothing waits and nothing is being added, turns begin anew. Else a key's later jobs stay behind its earlier ones.
    const isQuiet = least === 0 && adding === 0 && view.takes === takes
    view.last = isQuiet ? 0 : Math.max(view.last, lastOfAll)
    view.readAt = performance.now()
  }

  async #look ({ queue, priority, keyName, tenant = '' }: Line, last: number): Promise<[number, number, number]> {
    const band = bandOf(priority)
    const keys = [queueKey(queue, 'prioritized'), fairKey(queue, priority)]
    return fromRedis(await whileAvailable(
      this.#redis.eval(lookScript, 2, ...keys, (band + 1) * arrivals, (band + maxTurn + 1) * arrivals - 1, keyName, last, tenant)
    ))
  }
}

/** Jobs by what they take turns in; those of one request are mostly in one line. */
export function linesOf<Job extends { priority: number, data: { keyName: string, tenant?: string } }> (
  queue: string, jobs: readonly Job[]
): Array<[Line, Job[]]> {
  const lines = grouped(jobs, ({ priority, data: { tenant, keyName } }) => JSON.stringify([priority, tenant, keyName]))
  return [...lines.values()].flatMap(own => own.slice(0, 1).map(({ priority, data: { keyName, tenant } }): [Line, Job[]] => (
    [{ queue, priority, keyName, tenant }, own]
  )))
}

export function publicPriority (priority: number): number {
  return limits.priority.max - Math.floor((priority - 1) / maxTurn)
}

/** BullMQ's priorities of a public priority begin after it. */
function bandOf (priority: number): number {
  return (limits.priority.max - priority) * maxTurn
}
