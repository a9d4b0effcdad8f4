import type { Redis } from './ioredis.ts'

/** A server that has just been connected to again may not have its data yet, or be no master for long, in milliseconds. */
const unsureMs = 10_000

const reconnected = new WeakMap<Redis, number>()

/** Notes when a connection, or one to a node of a cluster, is there again after it was lost. */
export function noteReconnects (redis: Redis): void {
  let wasLost = false
  const note = (): void => { if (wasLost) reconnected.set(redis, performance.now()) }
  for (const event of ['close', '-node', 'node error']) {
    redis.on(event, () => {
      wasLost = true
      note()
    })
  }
  for (const event of ['ready', '+node']) redis.on(event, note)
}

/** Whether what Redis doesn't have now may be there soon: after a failover, a restart, or a connection that was lost. */
export function mayBeThereSoon (redis: Redis): boolean {
  return performance.now() - (reconnected.get(redis) ?? -Infinity) < unsureMs
}
