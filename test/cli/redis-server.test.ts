import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { ensureRedisServer, startRedisServer, type RedisServer, type RedisServerOptions } from '@toolyard/store/server'
import { startTestRedis } from '../support/redis.ts'
import { waitFor } from '../support/condition.ts'

const { path: binary } = await ensureRedisServer({ env: process.env, say: line => { t.comment(line) } })

await t.test('a server answers on a socket that only its user can reach', async t => {
  const dir = await temporaryDirectory(t)
  const server = await startIn(t, dir)
  t.equal(server.url, `unix:${join(dir, 'redis.sock')}`)
  t.equal(await ask(server, 'PING'), '+PONG')
  t.equal(statSync(dir).mode & 0o777, 0o700)
  t.equal(statSync(join(dir, 'redis.sock')).mode & 0o777, 0o700)
  await server.stop()
  t.equal(await server.exited, 'exit status 0')
  t.notOk(existsSync(join(dir, 'redis.sock')))
})

await t.test('a server drops nothing when memory is full, and listens on no port', async t => {
  const server = await startTestRedis(t)
  t.match(await ask(server, 'CONFIG GET maxmemory-policy'), 'noeviction')
  t.match(await ask(server, 'CONFIG GET port'), /\r\n0$/)
})

await t.test('with aof the data is there after a restart, also after a kill', async t => {
  const dir = await temporaryDirectory(t)
  const first = await startIn(t, dir, { aof: true })
  t.equal(await ask(first, 'SET kept yes'), '+OK')
  await first.stop()
  const second = await startIn(t, dir, { aof: true })
  t.match(await ask(second, 'GET kept'), 'yes')
  process.kill(second.pid, 'SIGKILL')
  t.equal(await second.exited, 'signal SIGKILL')
  const third = await startIn(t, dir, { aof: true })
  t.match(await ask(third, 'GET kept'), 'yes')
})

await t.test('without aof nothing is kept', async t => {
  const dir = await temporaryDirectory(t)
  const first = await startIn(t, dir)
  await ask(first, 'SET kept yes')
  await first.stop()
  t.equal(await ask(await startIn(t, dir), 'GET kept'), '$-1')
})

await t.test('a server that an earlier start left in the directory is stopped, and its data kept', async t => {
  const dir = await temporaryDirectory(t)
  const leftover = spawn(binary, ['--port', '0', '--unixsocket', join(dir, 'redis.sock'), '--dir', dir, '--save', '', '--appendonly', 'yes'], { stdio: 'ignore' })
  t.teardown(() => leftover.kill('SIGKILL'))
  const old = { url: `unix:${join(dir, 'redis.sock')}` }
  await waitFor('the leftover', () => ask(old, 'PING').then(reply => reply === '+PONG', () => false))
  await ask(old, 'SET kept yes')
  const [server] = await Promise.all([startIn(t, dir, { aof: true }), once(leftover, 'exit')])
  t.match(await ask(server, 'GET kept'), 'yes')
})

await t.test('a directory whose path is too long for a socket works too', async t => {
  const dir = join(await temporaryDirectory(t), 'd'.repeat(120))
  mkdirSync(dir)
  const first = await startIn(t, dir)
  t.equal(await ask(first, 'PING'), '+PONG')
  t.ok(lstatSync(join(dir, 'redis.sock')).isSymbolicLink())
  const place = dirname(readlinkSync(join(dir, 'redis.sock')))
  t.equal(statSync(place).mode & 0o777, 0o700)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  const second = await startIn(t, dir)
  t.notOk(existsSync(place), 'what the killed one left is gone')
  const next = dirname(readlinkSync(join(dir, 'redis.sock')))
  await second.stop()
  t.notOk(existsSync(next))
})

await t.test('the error of a server that can\'t start has the end of its log', async t => {
  const dir = await temporaryDirectory(t)
  const program = join(dir, 'redis-server')
  await t.rejects(startRedisServer({ binary: program, dir, aof: false }), { name: 'RedisServerError', message: /ENOENT/ })
  writeFileSync(program, '#!/bin/sh\necho "Fatal error: no luck today"\nexit 1\n', { mode: 0o755 })
  await t.rejects(startRedisServer({ binary: program, dir, aof: false }), {
    name: 'RedisServerError',
    message: /could not start: exit status 1\.\nThe end of .*redis\.log:\n[\s\S]*no luck today$/
  })
})

async function temporaryDirectory (t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-redis-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  return dir
}

async function startIn (t: Test, dir: string, options: Partial<RedisServerOptions> = {}): Promise<RedisServer> {
  const server = await startRedisServer({ binary, dir, aof: false, ...options })
  t.teardown(() => server.stop())
  return server
}

/** Sends one inline command and returns the reply as it came, without the closing line break. */
async function ask ({ url }: Pick<RedisServer, 'url'>, command: string): Promise<string> {
  const socket = connect(url.slice('unix:'.length))
  socket.write(`${command}\r\n`)
  const [reply] = await once(socket, 'data') as [Buffer]
  socket.destroy()
  return reply.toString().replace(/\r\n$/, '')
}
