import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { isAlive, readyPid, startDirectory, startSession } from '../cli/start-session.ts'
import { toolyardProgram } from '../cli/toolyard.ts'

const ready = 'Toolyard is ready at'

await t.test('SIGTERM stops the service and the worker first, Redis last, with status 0', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory)
  await session.printed(ready)
  const pids = [await readyPid(directory, 'api'), await readyPid(directory, 'worker')]
  session.signal('SIGTERM')
  t.equal(await session.exited, 0)
  t.same(session.events().slice(2).sort(), ['api left by SIGTERM while redis was up', 'worker left by SIGTERM while redis was up'])
  t.notOk(pids.some(isAlive))
  t.notOk(existsSync(join(directory, '.toolyard/redis/redis.sock')), 'Redis has taken its socket away')
  t.notOk(existsSync(join(directory, '.toolyard/start.json')))
})

await t.test('a signal during the start leaves no process and no file behind', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory)
  await waitFor('the claim', () => existsSync(join(directory, '.env')))
  session.signal('SIGINT')
  t.equal(await session.exited, 0)
  t.notOk(existsSync(join(directory, '.toolyard/redis/redis.sock')))
  t.notOk(existsSync(join(directory, '.toolyard/start.json')))
})

await t.test('a part that does not stop is killed at a second signal', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory, { FAKE_WORKER: 'stubborn', SHUTDOWN_GRACE_SEC: '600' })
  await session.printed(ready)
  const pid = await readyPid(directory, 'worker')
  session.signal('SIGINT')
  await session.printed('Stopping;')
  // Signals within a second count as one.
  await delay(1_100)
  session.signal('SIGINT')
  t.equal(await session.exited, 0)
  t.notOk(isAlive(pid))
})

await t.test('a part that does not stop within the grace time is killed', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory, { FAKE_API: 'stubborn', SHUTDOWN_GRACE_SEC: '0' })
  await session.printed(ready)
  const pid = await readyPid(directory, 'api')
  session.signal('SIGTERM')
  t.equal(await session.exited, 0)
  t.notOk(isAlive(pid))
})

await t.test('a start under npm stops when npm is stopped, though npm signals only its shell', async t => {
  // As npx and `npm run` do it: the shell waits for the command, and ends by the signal.
  const npm = spawn('sh', ['-c', `'${process.execPath}' '${toolyardProgram}' start; true`], {
    cwd: startDirectory(t),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', SANDBOX: 'off', npm_lifecycle_event: 'npx' },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', chunk => { output += String(chunk) })
  const closed = once(npm, 'close')
  t.teardown(async () => {
    npm.kill('SIGTERM')
    await closed
  })
  await waitFor('the greeting', () => output.includes('Ctrl-C stops everything') || npm.exitCode !== null, 60_000)
  npm.kill('SIGTERM')
  await closed
  t.equal(npm.signalCode, 'SIGTERM', 'the shell didn\'t pass it on')
  t.match(output, 'Stopping; running calls have')
})
