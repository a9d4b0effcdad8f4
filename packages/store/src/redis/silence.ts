import type { Redis as Server } from 'ioredis'
import { setImmediate as turn } from 'node:timers/promises'
import type { Redis } from './ioredis.ts'

/** Between two questions, in milliseconds. */
const everyMs = 1_000
/** A server that answers nothing for so long is left, in milliseconds. */
const patienceMs = 5_000

/**
 * Leaves a server that is silent: its process hangs, or its machine is gone and nobody closes the connection. TCP would
 * wait for a quarter of an hour. What comes after is the way of any lost connection: Sentinels are asked for the master
 * anew, a cluster's node is replaced, and a single server is connected to again.
 *
 * @param serversOf the servers that are asked now; they may change
 */
export function leaveSilentServers (redis: Redis, serversOf: (redis: Redis) => Server[]): void {
  const asked = new WeakSet<Server>()
  const ask = async (server: Server): Promise<void> => {
    asked.add(server)
    const timer = setTimeout(() => { void leave(server, () => asked.has(server)) }, patienceMs).unref()
    // A refusal is an answer, too.
    await server.ping().catch(() => {})
    clearTimeout(timer)
    asked.delete(server)
  }
  const timer = setInterval(() => {
    for (const server of serversOf(redis)) if (server.status === 'ready' && !asked.has(server)) void ask(server)
  }, everyMs).unref()
  redis.on('end', () => { clearInterval(timer) })
}

/** The answer may be there, and only this process too busy to have read it. */
async function leave (server: Server, isSilent: () => boolean): Promise<void> {
  await turn()
  await turn()
  if (isSilent()) server.disconnect(true)
}
