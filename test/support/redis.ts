import { ensureRedisServer, startRedisServer } from '@toolyard/store/server'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'

export interface TestRedis {
  url: string
  /** Absolute path of its socket. */
  socket: string
  /** Its process, which changes when it is started again. */
  pid: () => number
  stop: () => Promise<void>
  /** Starts it again at the same address; with `aof`, on the same data. */
  start: () => Promise<void>
}

/**
 * Starts a Redis server in a temporary directory; it is stopped and removed when the test ends.
 *
 * @param options `aof` keeps the data on disk; nothing else does
 */
export async function startTestRedis (cleanup: Cleanup, options: { aof?: boolean } = {}): Promise<TestRedis> {
  const { path: binary } = await ensureRedisServer({ env: process.env, say: line => { console.error(line) } })
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-redis-'))
  const start = async (): ReturnType<typeof startRedisServer> => await startRedisServer({ binary, dir, aof: options.aof ?? false })
  let server = await start()
  cleanup.teardown(async () => {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  })
  return {
    url: server.url,
    socket: server.url.slice('unix:'.length),
    pid: () => server.pid,
    stop: async () => { await server.stop() },
    start: async () => { server = await start() }
  }
}
