import { asRedisError, connectRedis, mayRedisTakeItLater, RedisUnavailableError } from '@toolyard/store'
import fc from 'fast-check'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { startRedisProcess } from '../support/redis-process.ts'

t.test('an error of the file system says nothing of Redis', async t => {
  for (const fails of [() => readFile('/nothing/there'), () => readFile('/'), () => readdir('/dev/null')]) {
    const error = await fails().then(() => undefined, (error: unknown) => error)
    t.equal(mayRedisTakeItLater(error), false, String(error))
  }
  const code = fc.constantFrom('EMFILE', 'ENFILE', 'EIO', 'ESTALE', 'ENOSPC', 'EDQUOT', 'EACCES', 'ENOENT')
  const syscall = fc.constantFrom('open', 'read', 'write', 'scandir', 'lstat', 'rename', 'mkdir')
  fc.assert(fc.property(code, syscall, (code, syscall) => !mayRedisTakeItLater(Object.assign(new Error(`${code}: ${syscall}`), { code, syscall }))))
})

t.test('what a cluster answers while a slot moves from one server to another is taken later', async t => {
  for (const message of [
    'ASK 7365 127.0.0.1:7001',
    'MOVED 3300 127.0.0.1:7001',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'ERR Script attempted to access a non local key in a cluster node script: caf1759b4d236eb774c757497a2e3f10d1a1123c, on @user_script:25.',
    'ERR Error running script (call to f_caf1): @user_script:25: Script attempted to access a non local key in a cluster node'
  ]) t.equal(mayRedisTakeItLater(new Error(message)), true, message)
  t.equal(mayRedisTakeItLater(new Error("ERR no such value 'ASKED'")), false)
})

t.test('what the user of the service may not do is taken when it may, and the error says who can change that', async t => {
  for (const message of [
    'NOPERM this user has no permissions to access one of the keys used as arguments',
    "NOPERM User toolyard has no permissions to run the 'hset' command",
    "ERR The user executing the script can't run this command or subcommand",
    "ERR The user executing the script can't publish to the channel mentioned in the command",
    'ERR ACL failure in script: User toolyard has no permissions to run the \'hset\' command script: caf1, on @user_script:1.'
  ]) {
    t.equal(mayRedisTakeItLater(new Error(message)), true, message)
    const error = asRedisError(new Error(message))
    t.type(error, RedisUnavailableError)
    t.match(error.message, /NOPERM.*docs\/redis\.md/)
  }
  for (const message of [
    "ERR unknown command 'hset', with args beginning with: 'a' ",
    'ERR Unknown Redis command called from script script: caf1, on @user_script:5.',
    // Valkey's.
    'ERR Unknown command called from script script: caf1, on @user_script:5.'
  ]) {
    t.equal(mayRedisTakeItLater(new Error(message)), true, message)
    t.match(asRedisError(new Error(message)).message, /knows no command of this name \(rename-command\): docs\/redis\.md/)
  }
})

t.test('why a server takes no connection is told, once, and is the last that is told', async t => {
  // The test's own connection is all that it takes.
  const { port } = await startRedisProcess(t, { config: { maxclients: '1' } })
  const told: string[] = []
  const redis = connectRedis({ place: { kind: 'server', url: `redis://127.0.0.1:${port}` } }, 'request', ({ message }) => { told.push(message) })
  t.teardown(() => { redis.disconnect() })
  const reason = 'it refuses the connection: max number of clients reached'
  await waitFor('the reason is told', () => told.includes(reason))
  let tries = 0
  redis.on('reconnecting', () => { tries++ })
  await waitFor('it is tried again and again', () => tries >= 5)
  t.equal(told.at(-1), reason, told.join())
  t.equal(new Set(told).size, told.length, told.join())
})

t.test('that a server is in protected mode is told, of Redis and of Valkey', async t => {
  for (const who of ['Redis is running', 'Running']) {
    const port = await listening(t, createServer(socket => { socket.end(`-DENIED ${who} in protected mode because protected mode is enabled. More follows.\r\n`) }))
    const told: string[] = []
    const redis = connectRedis({ place: { kind: 'server', url: `redis://127.0.0.1:${port}` } }, 'request', ({ message }) => { told.push(message) })
    t.teardown(() => { redis.disconnect() })
    await waitFor('the reason is told', () => told.includes(`it refuses the connection: ${who} in protected mode because protected mode is enabled`))
  }
})

t.test('an error of a socket does', async t => {
  const refused = new Promise<unknown>(resolve => {
    const redis = connectRedis({ place: { kind: 'server', url: 'redis://127.0.0.1:1' } }, 'request', error => {
      redis.disconnect()
      resolve(error)
    })
  })
  t.equal(mayRedisTakeItLater(await refused), true)
  for (const [code, syscall] of [['ECONNRESET', 'read'], ['EPIPE', 'write'], ['ENOTFOUND', 'getaddrinfo'], ['ENOENT', 'connect']] as const) {
    t.equal(mayRedisTakeItLater(Object.assign(new Error(code), { code, syscall })), true, code)
  }
})
