import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureRedisServer } from '@toolyard/store/server'
import { Redis, type RedisOptions } from 'ioredis'
import type { Cleanup } from './cleanup.ts'
import { waitFor } from './condition.ts'

/** A `redis-server` on a loopback port, with whatever configuration a test needs. */
export interface RedisProcess {
  port: number
  dir: string
  /** A connection of the test's own. */
  client: Redis
  isRunning: () => boolean
  signal: (signal: NodeJS.Signals) => void
  kill: () => Promise<void>
  /** Starts it again with the same configuration, on its data; fails with its log where it ends at once. */
  start: () => Promise<void>
  /** Removes its data, once it has ended. */
  forget: () => Promise<void>
}

interface RedisProcessOptions {
  /** Directives of redis.conf, each with its value; they are added to those that a queue needs. */
  config?: Record<string, string>
  /** Command line behind the program; in place of the directives. */
  args?: (port: number, dir: string) => Promise<string[]>
  port?: number
  /** How the test itself gets in. */
  client?: Omit<RedisOptions, 'replyMapping'>
}

const taken = new Set<number>()

/** A port that is free now, and whose cluster bus port (10,000 above) is, too. */
export async function freePort (): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 30_000)
    if (taken.has(port) || !await isFree(port) || !await isFree(port + 10_000)) continue
    taken.add(port)
    return port
  }
}

/** Starts a server and waits until it answers; the test's end kills it and removes its data. */
export async function startRedisProcess (t: Cleanup, options: RedisProcessOptions = {}): Promise<RedisProcess> {
  const { path } = await ensureRedisServer({ env: process.env, say: line => { console.error(line) } })
  const port = options.port ?? await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-redis-'))
  await mkdir(dir, { recursive: true })
  const args = options.args === undefined ? directives(port, dir, options.config ?? {}) : await options.args(port, dir)
  const client = new Redis({ port, maxRetriesPerRequest: null, retryStrategy: () => 100, ...options.client })
  client.on('error', () => {})
  let child: ChildProcess | undefined
  const isRunning = (): boolean => child?.exitCode === null && child.signalCode === null
  const kill = async (): Promise<void> => {
    if (!isRunning() || child === undefined) return
    const ended = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await ended
  }
  const start = async (): Promise<void> => {
    child = spawn(path, args, { cwd: dir, env: {}, stdio: 'ignore' })
    // One that has ended answers no ping.
    const ended = once(child, 'exit').then(async () => { throw new Error(`redis-server ended: ${(await readFile(join(dir, 'redis.log'), 'utf8').catch(() => 'no log')).slice(-2_000)}`) })
    await Promise.race([waitFor(`the Redis at ${port} answers`, async () => await client.ping() === 'PONG'), ended])
  }
  t.teardown(async () => {
    client.disconnect()
    await kill()
    await rm(dir, { recursive: true, force: true })
  })
  await start()
  const forget = async (): Promise<void> => { await rm(join(options.config?.['dir'] ?? dir, 'appendonlydir'), { recursive: true, force: true }) }
  return { port, dir, client, isRunning, signal: name => { child?.kill(name) }, kill, start, forget }
}

function directives (port: number, dir: string, config: Record<string, string>): string[] {
  const all: Record<string, string> = {
    port: String(port), bind: '127.0.0.1', dir, logfile: join(dir, 'redis.log'), save: '', appendonly: 'yes', 'maxmemory-policy': 'noeviction', ...config
  }
  return Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])
}

async function isFree (port: number): Promise<boolean> {
  return await new Promise(resolve => {
    const server = createServer()
    server.once('error', () => { resolve(false) })
    server.listen(port, '127.0.0.1', () => { server.close(() => { resolve(true) }) })
  })
}
