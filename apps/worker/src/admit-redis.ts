import { isConnected, RedisUnavailableError, type Redis, type RedisGuard } from '@toolyard/store'
import { setTimeout as delay } from 'node:timers/promises'

/** Between two looks for Redis. */
const connectMs = 60_000

/** Waits for Redis as long as it takes, and looks whether jobs are safe in it. @throws UnsafeRedisError */
export async function admitRedis (redis: Redis, guard: RedisGuard): Promise<void> {
  for (;;) {
    if (!await isConnected(redis, connectMs)) continue
    try {
      return await guard.admit()
    } catch (error) {
      if (!(error instanceof RedisUnavailableError)) throw error
      await delay(500)
    }
  }
}
