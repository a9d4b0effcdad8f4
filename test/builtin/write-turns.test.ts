import { EntryLocks } from '@toolyard/store'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createFixture, outputOf } from '../executors/fixture.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { waitFor } from '../support/condition.ts'

const server = await startTestRedis(t)

t.setTimeout(120_000)
const signal = new AbortController().signal

/** The name that the lock link of a file had, in the workspace. */
const oldLockOf = (name: string): string => `.toolyard-${createHash('sha256').update(name).digest('hex').slice(0, 32)}.lock`

function startWriter (workspace: string, name: string, count: number): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(new URL('turn-writer.js', import.meta.url)), workspace, name, String(count), server.url], { stdio: ['ignore', 'inherit', 'inherit'] })
}

async function writer (workspace: string, name: string, count: number): Promise<void> {
  const [code] = await once(startWriter(workspace, name, count), 'exit') as [number]
  if (code !== 0) throw new Error(`a writer ended with ${code}`)
}

t.test('RC37 writers of one file take turns across processes, and no write is lost', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), '')
  const names = ['a', 'b', 'c']
  await Promise.all(names.map(name => writer(fixture.workspace, name, 40)))
  const lines = readFileSync(join(fixture.workspace, 'file'), 'utf8').trimEnd().split('\n')
  t.same(lines.sort(), names.flatMap(name => Array.from({ length: 40 }, (_, index) => `${name}-${index}`)).sort())
  t.same(readdirSync(fixture.workspace), ['file'], 'no temporary file is left')
})

t.test('RC37 calls of one process take turns, also without shared locks', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), '')
  await Promise.all(Array.from({ length: 40 }, async (_, index) => outputOf(await fixture.runBuiltin('data.write_file', { path: 'file', mode: 'append', content: `${index}\n` }))))
  t.same(readFileSync(join(fixture.workspace, 'file'), 'utf8').trimEnd().split('\n').map(Number).sort((a, b) => a - b), Array.from({ length: 40 }, (_, index) => index))
})

t.test('RC37 readers see a whole file, before or after, while it is written', async t => {
  const fixture = createFixture(t)
  const [small, large] = ['a'.repeat(10), 'b'.repeat(500_000)]
  writeFileSync(join(fixture.workspace, 'file'), small)
  const state = { done: false }
  const writing = (async () => {
    for (let round = 0; round < 20; round++) outputOf(await fixture.runBuiltin('data.write_file', { path: 'file', content: round % 2 === 0 ? large : small }))
    state.done = true
  })()
  let reads = 0
  while (!state.done) {
    const { content_text: text } = outputOf(await fixture.runBuiltin('data.file_read', { path: 'file', max_bytes: 1_048_576 })) as { content_text: string }
    if (text !== small && text !== large) t.fail(`a mixture of ${text.length} characters`)
    reads += 1
  }
  await writing
  t.ok(reads > 0)
})

t.test('RC37 the lock of a writer that was killed ends by itself within seconds', async t => {
  const fixture = createFixture(t, { builtins: { locks: new EntryLocks(await connectTo(t, server)) } })
  writeFileSync(join(fixture.workspace, 'file'), '')
  const child = startWriter(fixture.workspace, 'killed', 2_000)
  await waitFor('it writes', () => readFileSync(join(fixture.workspace, 'file'), 'utf8').length > 0)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const outcomes = await Promise.all(Array.from({ length: 5 }, (_, index) => fixture.runBuiltin('data.write_file', { path: 'file', mode: 'append', content: `after-${index}\n` }, { timeoutMs: 15_000 })))
  for (const outcome of outcomes) outputOf(outcome)
  t.equal(readFileSync(join(fixture.workspace, 'file'), 'utf8').match(/^after-\d$/gm)?.length, 5)
})

t.test('RC37 a write waits for the lock of another process until its timeout', async t => {
  const locks = new EntryLocks(await connectTo(t, server))
  const taken: string[] = []
  const watched = { take: async (name: string, given: AbortSignal) => { taken.push(name); return await locks.take(name, given) } }
  const fixture = createFixture(t, { builtins: { locks: watched } })
  writeFileSync(join(fixture.workspace, 'file'), 'old')
  const write = async (timeoutMs: number): Promise<unknown> => await fixture.runBuiltin('data.write_file', { path: 'file', mode: 'append', content: '+' }, { timeoutMs })
  t.match(await write(10_000), { ok: true })
  const lock = await locks.take(taken[0] ?? '', signal)
  t.match(await write(300), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.equal(readFileSync(join(fixture.workspace, 'file'), 'utf8'), 'old+')
  const waiting = write(10_000)
  lock.release()
  t.match(await waiting, { ok: true })
})

t.test('RC37 a writer that may have lost its lock changes nothing', async t => {
  const redis = await startTestRedis(t)
  const locks = new EntryLocks(await connectTo(t, redis))
  const lock = await locks.take('name', signal)
  t.equal(lock.isHeld(), true)
  await redis.stop()
  await waitFor('it is not held for certain', () => !lock.isHeld())
  await redis.start()
  t.equal(lock.isHeld(), false, 'the lock went with its Redis')
  const fixture = createFixture(t, {
    builtins: { locks: { take: async () => await Promise.resolve({ isHeld: () => false, release: () => {} }) } }
  })
  writeFileSync(join(fixture.workspace, 'file'), 'old')
  t.match(await fixture.runBuiltin('data.write_file', { path: 'file', content: 'new' }), { ok: false, error: { message: /^the lock on the file was lost/ } })
  t.match(await fixture.runBuiltin('workspace.move', { from: 'file', to: 'moved' }), { ok: false, error: { message: /^the lock on the file was lost/ } })
  t.same(readdirSync(fixture.workspace), ['file'])
  t.equal(readFileSync(join(fixture.workspace, 'file'), 'utf8'), 'old')
})

t.test('RC37 nothing that a tool puts beside a file blocks its writers', async t => {
  const fixture = createFixture(t, { builtins: { locks: new EntryLocks(await connectTo(t, server)) } })
  const plants: Record<string, (path: string) => void> = {
    link: path => { symlinkSync('another-machine 1 1 alive', path) },
    directory: path => { mkdirSync(path) },
    fifo: path => { execFileSync('mkfifo', [path]) },
    file: path => { writeFileSync(path, 'x'.repeat(1_000)) }
  }
  for (const [kind, plant] of Object.entries(plants)) {
    writeFileSync(join(fixture.workspace, kind), '')
    plant(join(fixture.workspace, oldLockOf(kind)))
    plant(join(fixture.workspace, `.toolyard-${'0'.repeat(32)}.tmp`.replace('0', String(Object.keys(plants).indexOf(kind)))))
    if (kind === 'file') utimesSync(join(fixture.workspace, oldLockOf(kind)), 4e9, 4e9)
    const begun = performance.now()
    t.match(await fixture.runBuiltin('data.write_file', { path: kind, content: 'new' }), { ok: true }, kind)
    t.match(await fixture.runBuiltin('workspace.move', { from: kind, to: `${kind}-moved` }), { ok: true }, kind)
    t.ok(performance.now() - begun < 5_000, kind)
  }
})

t.test('B36 no tool shows the temporary files and locks of a write', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, '.file'), 'toolyard')
  writeFileSync(join(fixture.workspace, `.toolyard-${'0'.repeat(32)}.tmp`), 'toolyard')
  t.match(outputOf(await fixture.runBuiltin('workspace.list', { include_hidden: true })), { total_count: 1 })
  t.match(outputOf(await fixture.runBuiltin('tools.file_search', { query: 'o', include_hidden: true })), { result_count: 0 })
  t.match(outputOf(await fixture.runBuiltin('tools.find_in_files', { query: 'toolyard', include_hidden: true })), { match_count: 1 })
})
