import { queueStem } from '../redis/names.ts'
import { whileAvailable } from '../redis/unavailable.ts'
import type { BoardParts } from './board-parts.ts'

/** Keys of a queue that has jobs or is paused. */
const keepers = ['wait', 'paused', 'active', 'prioritized', 'delayed', 'waiting-children', 'completed', 'failed']

/**
 * The queues that the board shows: those that have a job or are paused, as they are in Redis now.
 *
 * @param allowed the only ones to be shown; undefined means all
 * @throws RedisUnavailableError
 */
export async function shownQueues ({ redis, directory }: Pick<BoardParts, 'redis' | 'directory'>, allowed: readonly string[] | undefined): Promise<string[]> {
  const known = (await directory.list()).filter(queue => allowed?.includes(queue) ?? true)
  const held = await whileAvailable(Promise.all(known.map(async queue => {
    const stem = queueStem(queue)
    const [jobs, paused] = await Promise.all([redis.exists(...keepers.map(name => stem + name)), redis.hexists(`${stem}meta`, 'paused')])
    return jobs > 0 || paused === 1
  })))
  return known.filter((_queue, index) => held[index])
}
