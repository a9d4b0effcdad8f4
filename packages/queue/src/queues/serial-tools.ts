import type { Redis } from '../redis/connection.ts'
import { serialKey, serialToolsKey } from '../redis/names.ts'
import { goOnWhenFull } from '../redis/commands/when-full.ts'

/** A worker that takes such a job says so too, also where Redis is full. */
const memberScript = `${goOnWhenFull('KEYS[1]')}\nreturn redis.call('SADD', KEYS[1], ARGV[1])`

/** Makes known that a queue has jobs of a serial tool, so that jobs of other queues give way to earlier ones there. */
export async function registerSerial (redis: Redis, { tool, queue }: { tool: string, queue: string }): Promise<void> {
  await Promise.all([redis.eval(memberScript, 1, serialKey(tool, 'queues'), queue), redis.eval(memberScript, 1, serialToolsKey, tool)])
}
