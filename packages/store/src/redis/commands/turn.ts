import type { Redis } from '../connection.ts'

/**
 * A turn that lasts longer than any was taken before the clock of Redis was set back: it is over. The removal lets a Redis that
 * is full write what comes after it.
 */
const takeTurnScript = `
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1
`

/** Whether it is this process's turn to do what one process does at a time; for so many milliseconds no other process gets it. */
export async function takeTurn (redis: Redis, key: string, ms: number): Promise<boolean> {
  return await redis.eval(takeTurnScript, 1, key, ms) === 1
}
