import { Redis, type RedisOptions as AllRedisOptions } from 'ioredis'

export type { Redis } from 'ioredis'

/** Without the option that changes the types of all replies. */
type RedisOptions = Omit<AllRedisOptions, 'replyMapping'>

/**
 * What a connection is for:
 * - `request`: commands of HTTP requests; fails at once while Redis is away, and never repeats a command by itself;
 * - `worker`: commands of a worker; waits for Redis to come back;
 * - `subscriber`: pub/sub; subscribes again after a reconnect.
 */
export type ConnectionRole = 'request' | 'worker' | 'subscriber'

const roles: Record<ConnectionRole, RedisOptions> = {
  request: { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
  worker: { maxRetriesPerRequest: null },
  subscriber: { maxRetriesPerRequest: null, autoResubscribe: true }
}

/**
 * Opens one connection; it connects in the background and reconnects for ever.
 *
 * @param url `redis://`, `rediss://` or `unix:/path/of/socket`.
 * @param onError hears of connection errors; the same error in a row is reported once.
 */
export function connectRedis (url: string, role: ConnectionRole, onError: (error: Error) => void): Redis {
  const options: RedisOptions = {
    ...roles[role],
    connectionName: `toolyard-${role}`,
    connectTimeout: 2_000,
    retryStrategy: attempt => Math.min(50 * attempt, 500)
  }
  const redis = url.startsWith('unix:') ? new Redis({ ...options, path: url.slice('unix:'.length) }) : new Redis(url, options)
  let reported: string | undefined
  redis.on('error', (error: Error) => {
    if (error.message !== reported) onError(error)
    reported = error.message
  })
  redis.on('ready', () => { reported = undefined })
  return redis
}

/** Waits until a connection stands, at most `ms`; whether it does. */
export async function isConnected (redis: Redis, ms: number): Promise<boolean> {
  if (redis.status === 'ready') return true
  return await new Promise<boolean>(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      redis.off('ready', end)
      resolve(redis.status === 'ready')
    }
    const timer = setTimeout(end, ms)
    redis.on('ready', end)
  })
}
