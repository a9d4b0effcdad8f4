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
  /** By socket: since when it owes an answer. `isOurs`: to our question; else to ioredis' own, whether the server is ready. */
  const owed = new WeakMap<object, { since: number, isOurs: boolean }>()
  const look = async (server: Server): Promise<void> => {
    const { status, stream } = server
    if (status !== 'ready' && status !== 'connect') return
    const isReady = status === 'ready'
    const answer = owed.get(stream)
    if (answer !== undefined && answer.isOurs === isReady) {
      if (performance.now() - answer.since < patienceMs) return
      // The answer may be there, and only this process too busy to have read it.
      await turn()
      await turn()
      if (owed.get(stream) === answer && server.stream === stream && server.status === status) server.disconnect(true)
      return
    }
    owed.set(stream, { since: performance.now(), isOurs: isReady })
    if (!isReady) return
    // A refusal is an answer, too.
    await server.ping().catch(() => {})
    owed.delete(stream)
  }
  const timer = setInterval(() => { for (const server of serversOf(redis)) void look(server) }, everyMs).unref()
  redis.on('end', () => { clearInterval(timer) })
}
