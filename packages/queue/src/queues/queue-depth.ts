import { heldKey } from '../record/approval.ts'
import { type Redis, queueKey, whileAvailable, BoundedMap } from '@toolyard/store'

/** A count of jobs is used for so long, in milliseconds, while the queue is at most half full. */
const freshMs = 250
/** Where BullMQ keeps jobs that don't run yet. */
const lists = ['wait', 'paused'] as const
const sets = ['prioritized', 'delayed', 'waiting-children'] as const

/**
 * Jobs that wait for a person are not in the way of others, and bounded by their owners' limits. Those of tenants have another
 * entry each, which begins with `@`. KEYS: held, lists, sets.
 */
const countScript = `
local count = 0
for place = 2, #KEYS do count = count + redis.call(place <= ${lists.length + 1} and 'LLEN' or 'ZCARD', KEYS[place]) end
return math.max(0, count - redis.call('ZLEXCOUNT', KEYS[1], '-', '(@'))
`

interface DepthView {
  count: number
  readAt: number
  reading: boolean
}

/** Counts the jobs that wait in queues (`MAX_QUEUE_DEPTH`): far from the limit now and then, near it before each add. */
export class QueueDepth {
  readonly #redis: Redis
  readonly #max: number
  readonly #views = new BoundedMap<DepthView>(() => ({ count: 0, readAt: -Infinity, reading: false }))

  constructor (redis: Redis, max: number) {
    this.#redis = redis
    this.#max = max
  }

  /**
   * How many of so many jobs a queue has room for now.
   *
   * @throws RedisUnavailableError
   */
  async room (queue: string, jobs: number): Promise<number> {
    const view = this.#views.of(queue)
    if (view.count + jobs > this.#max / 2) await this.#read(queue, view)
    else if (!view.reading && performance.now() - view.readAt > freshMs) void this.#read(queue, view).catch(() => {})
    const room = Math.max(0, Math.min(jobs, this.#max - view.count))
    view.count += room
    return room
  }

  async #read (queue: string, view: DepthView): Promise<void> {
    view.reading = true
    try {
      const keys = [heldKey(queue), ...[...lists, ...sets].map(name => queueKey(queue, name))]
      view.count = Number(await whileAvailable(this.#redis.eval(countScript, keys.length, ...keys)))
      view.readAt = performance.now()
    } finally {
      view.reading = false
    }
  }
}
