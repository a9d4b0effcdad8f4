import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { isAlive, readyPid, startDirectory, startSession } from '../cli/start-session.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'

const ready = 'Toolyard is ready at'

await t.test('a first start makes what is missing and prints where it is', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory)
  await session.printed('Ctrl-C stops everything')
  const key = /^API_KEY=([\w-]{43})\n$/.exec(readFileSync(join(directory, '.env'), 'utf8'))?.[1] ?? ''
  t.not(key, '')
  t.equal(statSync(join(directory, '.env')).mode & 0o777, 0o600)
  t.ok(existsSync(join(directory, 'workspace/README.md')), 'the sample workspace is copied')
  t.match(session.output(), '  Manifest   the samples, since TOOL_MANIFESTS names none and this directory has no tools.json\n')
  t.notMatch(session.output(), key, 'the key itself is not printed')
  t.match(session.output(), `${ready} http://127.0.0.1:65000`)
  t.match(session.output(), '  Console    http://127.0.0.1:65000/\n')
  t.match(session.output(), '  Dashboard  http://127.0.0.1:65000/dashboard\n')
  t.match(session.output(), '  Tools      12 from 2 manifests and built in; 1 manifest with errors, which stand above\n')
  t.match(session.output(), '  Sandbox    partial; missing: limits; toolyard doctor tells more\n')
  t.match(session.output(), /^curl .*\/v1\/agent-tools\/invoke-batch .*grep '\^API_KEY=' \.env.*data_file_read/m)
})

await t.test('beside a tools.json that no setting names, the start takes it and says so', async t => {
  const directory = startDirectory(t)
  writeFileSync(join(directory, 'tools.json'), '{"tools":[]}')
  const session = startSession(t, directory, { FAKE_GROUPS: 'none' })
  await session.printed('Ctrl-C stops everything')
  t.match(session.output(), '  Sandbox    full; without control groups memoryBytes counts for each process of a call; toolyard doctor tells what gives them\n')
  t.match(session.output(), '  Manifest   tools.json of this directory, since TOOL_MANIFESTS names none\n')
  t.match(session.output(), /^curl .*tools_file_search/m, 'the line to try asks for no sample')
})

await t.test('the line to try calls a tool of the user, if there is one that takes no arguments', async t => {
  const directory = startDirectory(t)
  writeFileSync(join(directory, 'tools.json'), '{"tools":[]}')
  const session = startSession(t, directory, { FAKE_TOOL: 'newest_files' })
  await session.printed('Ctrl-C stops everything')
  t.match(session.output(), /^curl .*"name":"newest_files","arguments":\{\}/m)
})

await t.test('what both parts find at once is said once', async t => {
  const session = startSession(t, startDirectory(t), { FAKE_API: 'finds', FAKE_WORKER: 'finds' })
  await session.printed('Ctrl-C stops everything')
  await session.printed('there is no such file')
  session.signal('SIGTERM')
  await session.exited
  t.equal(session.output().split('there is no such file').length - 1, 1)
})

await t.test('when the environment and .env have different API keys, the greeting says which one counts', async t => {
  const directory = startDirectory(t)
  writeFileSync(join(directory, '.env'), 'API_KEY=key-of-the-file-0123456789\n')
  const session = startSession(t, directory, { API_KEY: 'key-of-the-environment-0123456789' })
  await session.printed('Ctrl-C stops everything')
  t.match(session.output(), '  API key    API_KEY of the environment, which counts before the one in .env\n')
})

await t.test('a part that fails before it is ready ends the start with its last lines', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory, { FAKE_API: 'fails' })
  t.equal(await session.exited, 1)
  t.match(session.output(), /the api could not start \(exit status 3\):\n {2}FATAL \(api\): no way to start: the disk is full\n/)
  t.notMatch(session.output(), 'reading the settings')
  t.notMatch(session.output(), 'starting it again')
  t.notOk(existsSync(join(directory, '.toolyard/redis/redis.sock')))
  const worker = session.events().find(event => event.startsWith('worker ready'))
  t.ok(worker === undefined || !isAlive(Number(worker.split(' ').at(-1))), 'the worker is gone too')
})

await t.test('the message about a port in use names the remedy', async t => {
  const taken = createServer()
  await listening(t, taken)
  const { port } = taken.address() as { port: number }
  const session = startSession(t, startDirectory(t), { PORT: String(port) })
  t.equal(await session.exited, 1)
  t.match(session.output(), `port ${port} on 127.0.0.1 is in use`)
  t.match(session.output(), `PORT=${port + 1} toolyard start`)
})

await t.test('all bad settings are reported at once, and nothing is made', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory, { PORT: 'http', SHUTDOWN_GRACE_SEC: 'long' })
  t.equal(await session.exited, 1)
  t.match(session.output(), /PORT must be an integer.*\n.*SHUTDOWN_GRACE_SEC must be a number/)
  t.notOk(existsSync(join(directory, '.env')))
})

await t.test('variables that look like settings are reported once at start', async t => {
  const session = startSession(t, startDirectory(t), { TOOL_MANIFEST: 'a-secret', WORKSPACE_ROOT: 'a-secret' })
  await session.printed(ready)
  t.match(session.output(), /^warning: TOOL_MANIFEST has no effect: .* Is TOOL_MANIFESTS meant\?\nwarning: WORKSPACE_ROOT .* the one of Toolyard is WORKSPACE_DIR$/m)
  t.equal(session.output().split('TOOL_MANIFEST ').length, 2)
  t.notMatch(session.output(), 'a-secret')
  for (const command of [['api'], ['worker'], ['worker', '--processes', '2']]) {
    const { stdout } = await runToolyard(command, { cwd: startDirectory(t), env: { TOOL_MANIFEST: 'a-secret' } })
    t.equal(stdout.split('TOOL_MANIFEST has no effect').length, 2, command.join(' '))
    t.match(stdout, /"level":40.*TOOL_MANIFEST has no effect: .* Is TOOL_MANIFESTS meant\?"/)
    t.notMatch(stdout, 'a-secret')
  }
})

await t.test('a line of .env that sets nothing is reported once at start, by every command that reads the file', async t => {
  const directory = t.testdir({ '.env': 'REDIS_URI: a-secret\nSANDBOX require a-secret\n' })
  const told = `${directory}/.env:2 sets nothing: write NAME=value`
  const session = startSession(t, directory)
  await session.printed(ready)
  t.equal(session.output().split(`warning: ${told}`).length, 2)
  t.notMatch(session.output(), 'a-secret')
  for (const command of [['api'], ['worker'], ['worker', '--processes', '2'], ['doctor']]) {
    const { stdout } = await runToolyard(command, { cwd: directory })
    t.equal(stdout.split(told).length, 2, command.join(' '))
    t.notMatch(stdout, 'a-secret')
  }
})

await t.test('a part shows what it waits for before it is ready', async t => {
  const session = startSession(t, startDirectory(t), { FAKE_WORKER: 'waits' })
  await session.printed("worker waits: Redis can't be reached\n")
  t.notMatch(session.output(), ready)
})

await t.test('a worker says after two seconds that Redis can\'t be reached', async t => {
  const cwd = t.testdir()
  const child = fork(fileURLToPath(import.meta.resolve('@toolyard/worker')).replace(/index\.js$/, 'server.js'), [], { cwd, env: { PATH: process.env['PATH'], REDIS_URL: 'redis://:a-secret@127.0.0.1:1', SANDBOX: 'off' }, execArgv: [], silent: true })
  t.teardown(() => { child.kill('SIGKILL') })
  const [{ waiting }] = await once(child, 'message') as [{ waiting: string }]
  t.equal(waiting, "Redis can't be reached (connect ECONNREFUSED 127.0.0.1:1): see whether it runs, and whether REDIS_URL is right. It is tried again.")
})

await t.test('a second start in the same directory is refused and names the first', async t => {
  const directory = startDirectory(t)
  const first = startSession(t, directory)
  await first.printed(ready)
  const second = startSession(t, directory)
  t.equal(await second.exited, 1)
  t.match(second.output(), `already running (pid ${first.pid})`)
  t.ok(isAlive(await readyPid(directory, 'api')), 'the first goes on')
})

await t.test('of many messages the start shows the last ones, how many it leaves out, and where they are', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory, { FAKE_WORKER: 'talks' })
  await session.printed('Toolyard is ready')
  const lines = session.output().split('\n').filter(line => line.startsWith('worker') || line.includes('(worker)'))
  t.equal(lines[0], `worker: 5 earlier messages of its start are not shown here; read ${join(directory, '.toolyard/logs/worker.log')}`)
  t.same(lines.slice(1), Array.from({ length: 20 }, (_, at) => `WARN (worker): warning ${at + 6}`))
})

await t.test('warnings show in the terminal, the whole log is in a file', async t => {
  const directory = startDirectory(t)
  const session = startSession(t, directory, { FAKE_WORKER: 'warns' })
  await session.printed('WARN (worker): low on memory: 3 MB left')
  t.notMatch(session.output(), 'a quiet line')
  t.match(readFileSync(join(directory, '.toolyard/logs/worker.log'), 'utf8'), /a quiet line[\s\S]*low on memory/)
})

await t.test('a log whose directory is gone when it is full is made anew, and a start whose own directory is gone ends as ever', async t => {
  const directory = startDirectory(t)
  const [own, logs] = [join(directory, '.toolyard'), join(directory, '.toolyard/logs')]
  mkdirSync(logs, { recursive: true })
  writeFileSync(join(logs, 'worker.log'), '')
  const fullBytes = 10 * 2 ** 20
  truncateSync(join(logs, 'worker.log'), fullBytes - 1)
  const session = startSession(t, directory)
  await session.printed(ready)
  await waitFor('the log is full', () => statSync(join(logs, 'worker.log')).size > fullBytes)
  renameSync(logs, join(directory, 'moved'))
  process.kill(await readyPid(directory, 'worker'), 'SIGKILL')
  await waitFor('the next worker writes to its log', () => existsSync(join(logs, 'worker.log')) && readFileSync(join(logs, 'worker.log'), 'utf8').includes('a quiet line'))
  rmSync(own, { recursive: true })
  session.signal('SIGTERM')
  t.equal(await session.exited, 0, session.output())
})

await t.test('ports of METRICS_PORT that are taken, or are that of the API, are told before anything starts', async t => {
  const taken = createServer()
  await listening(t, taken)
  const { port } = taken.address() as { port: number }
  for (const [env, message] of [
    [{ METRICS_PORT: String(port) }, `port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another: METRICS_PORT=`],
    [{ METRICS_PORT: String(port - 1) }, /port \d+ on 127\.0\.0\.1 is in use\. .* METRICS_PORT=/],
    [{ PORT: '19470', METRICS_PORT: '19470' }, 'METRICS_PORT=19470 takes the ports 19470 and 19471, the second for the workers, and PORT is 19470'],
    [{ PORT: '19470', METRICS_PORT: '19469' }, 'METRICS_PORT=19469 takes the ports 19469 and 19470'],
    [{ METRICS_PORT: '65535' }, 'METRICS_PORT=65535 takes the ports 65535 and 65536']
  ] as const) {
    const session = startSession(t, startDirectory(t), env)
    t.equal(await session.exited, 1)
    t.match(session.output(), message)
    t.strictSame(session.events(), [])
  }
})

await t.test('the API serves its metrics on METRICS_PORT, and all workers theirs on the next port', async t => {
  const session = startSession(t, startDirectory(t), { METRICS_PORT: '19464' })
  await session.printed(ready)
  t.strictSame(session.events().filter(event => event.includes('metrics')), ['api metrics 19464'])
  t.equal((await fetch('http://127.0.0.1:19465/metrics')).status, 200)
})
