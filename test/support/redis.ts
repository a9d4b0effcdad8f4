import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ensureRedisServer, startRedisServer, type RedisServer } from '@toolyard/queue/server'

/**
 * Starts a Redis server for one test, in a temporary directory; it is stopped and removed when the test ends.
 *
 * @param options `aof` keeps the data on disk; nothing else does
 */
export async function startTestRedis (t: Test, options: { aof?: boolean } = {}): Promise<RedisServer> {
  const { path } = await ensureRedisServer({ env: process.env, say: line => { t.comment(line) } })
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-redis-'))
  const server = await startRedisServer({ binary: path, dir, aof: options.aof ?? false })
  t.teardown(async () => {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  })
  return server
}
