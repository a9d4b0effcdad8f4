import type { Redis } from '../redis/connection.ts'
import { serialKey, serialToolsKey } from '../redis/names.ts'

/** Makes known that a queue has jobs of a serial tool, so that jobs of other queues give way to earlier ones there. */
export async function registerSerial (redis: Redis, { tool, queue }: { tool: string, queue: string }): Promise<void> {
  await Promise.all([redis.sadd(serialKey(tool, 'queues'), queue), redis.sadd(serialToolsKey, tool)])
}
