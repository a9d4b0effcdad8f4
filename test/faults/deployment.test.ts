import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startHaproxy } from '../deploy/haproxy.ts'
import { startDeployment } from '../deploy/plain-deployment.ts'
import { startSmallProxy } from '../deploy/small-proxy.ts'
import { entries, programs } from '../e2e/tools.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { openReader } from '../streams/event-reader.ts'
import { createClient, type Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { ensureTestProgram } from '../support/test-program.ts'
import { writeFiles } from '../support/files.ts'

// Laying out the images runs npm ci.
t.setTimeout(600_000)

const dir = t.testdir()
writeFiles(dir, { ...programs, 'tools.json': { tools: entries.map(entry => ({ ...entry, permissions: ['read_repo', 'write_files'] })) } })
for (const path of Object.keys(programs)) chmodSync(join(dir, path), 0o755)

const haproxy = await ensureTestProgram('haproxy')
const noBox = await withoutBox()
if (noBox !== false) t.comment(`SANDBOX=auto instead of require: ${noBox}`)
const { key, apis, workers, redis } = await startDeployment(t, {
  dir,
  env: image => ({ TOOL_MANIFESTS: [join(image, 'app/samples/tools.json'), join(dir, 'tools.json')].join(','), MAX_EVENT_LOOP_DELAY_MS: '0', ...noBox === false ? {} : { SANDBOX: 'auto' } })
})
const ports = apis.map(({ port }) => port)
const { address: smallProxy, served } = await startSmallProxy(t, ports)

t.test('two API replicas behind a proxy and two workers serve batches, and each replica gets some', async t => {
  t.equal(apis.length, 2)
  t.equal(workers.length, 2)
  const client = createClient(smallProxy, key)
  writeFileSync(join(dir, 'volumes/workspace/note.txt'), 'one two three\n')
  const answers = await Promise.all(Array.from({ length: 10 }, async () => await client.batch([
    { call_id: 'a', name: 'word_count', arguments: { path: 'note.txt' } },
    { call_id: 'b', name: 'data_file_read', arguments: { path: 'note.txt' } },
    { call_id: 'c', name: 'nap', arguments: { ms: 50 } }
  ])))
  t.strictSame(answers.flatMap(({ results }) => results.map(({ ok, error }) => ok || error)), answers.flatMap(() => [true, true, true]))
  for (const port of ports) t.ok((served.get(port) ?? 0) >= 5, 'and no replica is idle')
})

t.test('an event stream comes through the proxy event by event', async t => {
  await streams(t, smallProxy)
})

t.test('the configuration of HAProxy is valid, and it serves batches and streams', { skip: 'missing' in haproxy ? haproxy.missing : false }, async t => {
  if ('missing' in haproxy) return
  const { address } = await startHaproxy(t, haproxy.path, dir, ports)
  await batches(t, createClient(address, key), 10)
  await streams(t, address)
  t.equal((await fetch(`${address}/metrics`)).status, 404)
})

t.test('Redis allows the service the commands that it uses, and no others', async t => {
  const url = new URL(readFileSync(join(dir, 'secrets/redis_url'), 'utf8'))
  const ask = (user: string[], ...command: string[]): string => spawnSync('redis-cli', ['-p', url.port, ...user, ...command], { encoding: 'utf8', env: { PATH: process.env['PATH'], REDISCLI_AUTH: user.length === 0 ? '' : url.password } }).stdout
  for (const command of [['get', 'toolyard:queues'], ['flushall'], ['info']]) t.match(ask([], ...command), /NOPERM|NOAUTH/, `nobody may ${command.join(' ')}`)
  for (const command of [['flushall'], ['config', 'get', '*'], ['keys', '*'], ['get', 'other'], ['acl', 'list'], ['shutdown', 'nosave']]) t.match(ask(['--user', 'toolyard'], ...command), 'NOPERM', `toolyard may not ${command.join(' ')}`)
  for (const { output } of [...apis, ...workers]) t.notMatch(output(), 'NOPERM')
})

t.test('one API replica is killed: the others serve, through either proxy', async t => {
  const other = 'path' in haproxy ? await startHaproxy(t, haproxy.path, dir, ports) : undefined
  await apis[0]?.stop('SIGKILL')
  await batches(t, createClient(smallProxy, key), 20)
  if (other !== undefined) await batches(t, createClient(other.address, key), 20)
})

t.test('at SIGTERM a running call ends and is answered, everything exits with 0, and Redis has kept its files', async t => {
  const waiting = createClient(smallProxy, key).call('nap', { ms: 1_500, mark: 'napping' })
  await waitFor('the tool runs', () => existsSync(join(dir, 'volumes/workspace/napping')))
  const stopped = Promise.all([apis[1], ...workers].map(async service => await service?.stop()))
  t.same((await waiting).output, { slept: 1_500 })
  t.same(await stopped, [0, 0, 0])
  t.equal(await redis.stop(), 0)
  t.ok(existsSync(join(dir, 'volumes/redis-data/appendonlydir')))
})

async function batches (t: Test, client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) t.equal((await client.call('echo', { index })).ok, true)
}

/** The first answer must be there while the second call is still running. */
async function streams (t: Test, address: string): Promise<void> {
  const reader = await openReader(t, `${address}/v1/agent-tools/invoke-batch`, {
    key, body: { calls: [{ call_id: 'quick', name: 'echo' }, { call_id: 'slow', name: 'nap', arguments: { ms: 3_000 } }] }
  })
  await reader.next('call_result', data => data['index'] === 0)
  t.equal(reader.events.filter(({ name }) => name === 'call_result').length, 1)
  t.notOk(reader.isEnded())
  await reader.next('end')
}
