import { connectRedis, isConnected, type Redis } from '@toolyard/store'
import { Redis as PlainRedis } from 'ioredis'
import type { Cleanup } from './cleanup.ts'
import type { TestRedis } from './redis.ts'

/** Opens a connection as a process of Toolyard does; it is closed when the test ends. */
export async function connectTo (cleanup: Cleanup, server: Pick<TestRedis, 'url'>, role: Parameters<typeof connectRedis>[1] = 'worker'): Promise<Redis> {
  const redis = connectRedis({ place: { kind: 'server', url: server.url } }, role, () => {})
  cleanup.teardown(() => { redis.disconnect() })
  if (!await isConnected(redis, 5_000)) throw new Error(`Redis at ${server.url} does not answer`)
  return redis
}

/** Opens a connection that is only ioredis's own; it is closed when the test ends. */
export function plainRedis (cleanup: Cleanup, { socket }: TestRedis): PlainRedis {
  const redis = new PlainRedis(socket)
  cleanup.teardown(() => { redis.disconnect() })
  return redis
}
