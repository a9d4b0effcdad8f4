import type { Redis } from 'ioredis'

/*
 * Fills a queue with jobs that have ended, for tests that look for one among many: each is a copy of the record of a job that
 * was really run, with an id and times of its own.
 */

/** KEYS: the record, the set it is in, the index. ARGV: stem of the jobs' keys, the member of the index without its id, ids and times. */
const copyScript = `
local record = redis.call('HGETALL', KEYS[1])
for at = 3, #ARGV, 2 do
  local key = ARGV[1] .. ARGV[at]
  redis.call('HSET', key, unpack(record))
  redis.call('HSET', key, 'timestamp', ARGV[at + 1], 'processedOn', ARGV[at + 1], 'finishedOn', ARGV[at + 1])
  redis.call('ZADD', KEYS[2], ARGV[at + 1], ARGV[at])
  redis.call('ZADD', KEYS[3], 0, ARGV[at] .. ARGV[2])
end
`
const atOnce = 1_000

/** A job that has ended, and how many like it there are to be. */
export interface Template {
  id: string
  queue: string
  state: 'completed' | 'failed'
  count: number
}

/** Copies jobs, one each millisecond up to `until`, the kinds in turns. */
export async function fillFinished (redis: Redis, templates: readonly Template[], until: number): Promise<void> {
  for (const { id, queue, state, count } of templates) {
    const stem = `toolyard:{${queue}}:`
    const [member = ''] = await redis.zrangebylex(`${stem}created`, `[${id} `, `(${id}!`)
    for (let made = 0; made < count; made += atOnce) {
      const copies = Array.from({ length: Math.min(atOnce, count - made) }, (_, place) => {
        const time = until - count + made + place
        return [idAt(time, id), time]
      })
      await redis.eval(copyScript, 3, stem + id, stem + state, `${stem}created`, stem, member.slice(id.length), ...copies.flat())
    }
  }
}

/** An id of a job of this time; what follows the time is that of the template, so that no two are the same. */
function idAt (ms: number, template: string): string {
  const digits = ms.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}${template.slice(13)}`
}
