import { execFileSync } from 'node:child_process'
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { createFixture, outputOf, type Fixture } from './fixture.ts'

const failed = (message: string): object => ({ ok: false, error: { code: 'TOOL_FAILED', message } })
const read = async (fixture: Fixture, args: Record<string, unknown>): Promise<Outcome> => await fixture.runBuiltin('data.file_read', args)

t.test('R7 R47 RC36 a file of the workspace is read as text', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'README.md'), '# Häuser\n')
  t.same(await read(fixture, { path: 'README.md' }), {
    ok: true,
    output: { ok: true, path: 'README.md', truncated: false, bytes_read: 10, total_bytes: 10, content_text: '# Häuser\n' }
  })
})

t.test('RC36 the path may be written in any way that stays inside, and is answered from the workspace', async t => {
  const fixture = createFixture(t)
  execFileSync('mkdir', ['-p', join(fixture.workspace, 'a/b'), join(fixture.workspace, '..dir')])
  for (const file of ['a/b/c.txt', '..hidden', '..dir/..x', 'a/..c']) writeFileSync(join(fixture.workspace, file), 'x')
  const ways = { './a/b/c.txt': 'a/b/c.txt', 'a/../a//b/c.txt': 'a/b/c.txt', [join(fixture.workspace, 'a/b/c.txt')]: 'a/b/c.txt', '..hidden': '..hidden', '..dir/..x': '..dir/..x', 'a/..c': 'a/..c' }
  for (const [path, answered] of Object.entries(ways)) {
    t.match(await read(fixture, { path }), { ok: true, output: { path: answered, content_text: 'x' } }, path)
  }
})

t.test('RC36 max_bytes bounds what is read, 262144 by default and for values out of bounds', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'big'), 'x'.repeat(300_000))
  t.match(await read(fixture, { path: 'big', max_bytes: 512 }), { output: { truncated: true, bytes_read: 512, total_bytes: 300_000, content_text: 'x'.repeat(512) } })
  t.match(await read(fixture, { path: 'big', max_bytes: 1_048_576 }), { output: { truncated: false, bytes_read: 300_000 } })
  for (const bad of [undefined, 511, 1_048_577, 600.5, '600', null]) {
    t.match(await read(fixture, { path: 'big', max_bytes: bad }), { output: { truncated: true, bytes_read: 262_144 } }, String(bad))
  }
})

t.test('RC36 a cut never falls inside of a UTF-8 sequence', async t => {
  const fixture = createFixture(t)
  for (const [char, size] of [['é', 2], ['€', 3], ['\u{1F600}', 4]] as const) {
    for (const lead of [0, 1, 2, 3]) {
      writeFileSync(join(fixture.workspace, 'text'), 'x'.repeat(lead) + char.repeat(400))
      const count = Math.floor((512 - lead) / size)
      t.match(await read(fixture, { path: 'text', max_bytes: 512 }), { output: { bytes_read: lead + count * size, content_text: 'x'.repeat(lead) + char.repeat(count) } })
    }
  }
})

t.test('invalid UTF-8 is replaced, and an empty file is an empty text', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'bytes'), Buffer.from([0x61, 0xff, 0x62, 0xc3]))
  writeFileSync(join(fixture.workspace, 'empty'), '')
  t.match(await read(fixture, { path: 'bytes' }), { output: { truncated: false, bytes_read: 4, content_text: 'a\ufffdb\ufffd' } })
  t.match(await read(fixture, { path: 'empty' }), { output: { truncated: false, bytes_read: 0, total_bytes: 0, content_text: '' } })
  writeFileSync(join(fixture.workspace, 'binary'), Buffer.alloc(1_000, 0x80))
  t.match(await read(fixture, { path: 'binary', max_bytes: 512 }), { output: { bytes_read: 512 } })
})

t.test('RC36 without a path the error is: path is required', async t => {
  const fixture = createFixture(t)
  for (const path of [undefined, '', '  ', 5, null]) t.same(await read(fixture, { path }), failed('path is required'))
})

t.test('RC36 for a missing file the error is: file not found', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), '')
  symlinkSync('loop', join(fixture.workspace, 'loop'))
  for (const path of ['missing', 'a/b', 'file/below', 'nul\0byte', 'loop', 'x'.repeat(300)]) t.same(await read(fixture, { path }), failed('file not found'), JSON.stringify(path.slice(0, 20)))
})

t.test('RC36 for anything but a file the error is: path is not a file, and no call hangs', async t => {
  const fixture = createFixture(t)
  execFileSync('mkfifo', [join(fixture.workspace, 'fifo')])
  for (const path of ['.', 'fifo']) t.same(await read(fixture, { path }), failed('path is not a file'), path)
})

t.test('B29 RC36 no path and no link leads out of the workspace: path escapes workspace root', async t => {
  const fixture = createFixture(t)
  const outside = dirname(fixture.workspace)
  writeFileSync(join(outside, 'secret'), 'secret')
  symlinkSync(join(outside, 'secret'), join(fixture.workspace, 'absolute-link'))
  symlinkSync('../secret', join(fixture.workspace, 'relative-link'))
  symlinkSync(outside, join(fixture.workspace, 'directory-link'))
  symlinkSync('absolute-link', join(fixture.workspace, 'link-to-link'))
  const paths = ['..', '../secret', 'a/../../secret', '/etc/passwd', join(outside, 'secret'), `${fixture.workspace}x`, '../missing', 'absolute-link', 'relative-link', 'directory-link/secret', 'link-to-link', '/proc/self/environ', '/dev/zero']
  for (const path of paths) t.same(await read(fixture, { path }), failed('path escapes workspace root'), path)
})

t.test('B29 links that stay inside are followed, also when the workspace itself is reached by a link', async t => {
  const fixture = createFixture(t, { linkedWorkspace: true })
  const real = join(dirname(fixture.workspace), 'real')
  writeFileSync(join(real, 'target'), 'content')
  symlinkSync('target', join(real, 'link'))
  for (const path of ['link', join(fixture.workspace, 'link'), join(real, 'target')]) {
    t.match(await read(fixture, { path }), { output: { path: 'target', content_text: 'content' } }, path)
  }
})

t.test('no descriptor stays open, however the call ends', { skip: process.platform !== 'linux' }, async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'x')
  // The workspace itself is open for all calls of one turn.
  const opened = async (): Promise<number> => {
    await nextTurn()
    return readdirSync('/proc/self/fd').length
  }
  await read(fixture, { path: 'file' })
  const before = await opened()
  for (const path of ['file', 'missing', '.', '../x']) for (let i = 0; i < 20; i++) await read(fixture, { path })
  t.equal(await opened(), before)
})

t.test('fault 9 X7 a built-in tool ends at its cancel and at its timeout', async t => {
  const fixture = createFixture(t)
  t.match(await fixture.runBuiltin('data.file_read', { path: 'x' }, { signal: AbortSignal.abort() }), { ok: false, error: { code: 'JOB_CANCELLED' } })
  for (let i = 0; i < 3_000; i++) writeFileSync(join(fixture.workspace, `file-${i}`), '')
  const stop = new AbortController()
  const search = fixture.runBuiltin('tools.file_search', { query: 'nothing-like-it' }, { signal: stop.signal })
  stop.abort({ code: 'WORKER_LOST', message: 'the worker stopped' })
  t.same(await search, { ok: false, error: { code: 'WORKER_LOST', message: 'the worker stopped' } })
  t.same(await fixture.runBuiltin('tools.file_search', { query: 'nothing-like-it' }, { timeoutMs: 1 }), { ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: 0.001 } } })
})

t.test('a job type without a handler is TOOL_UNAVAILABLE', async t => {
  const fixture = createFixture(t)
  t.match(await fixture.runBuiltin('data.nothing', {}), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

t.test('a built-in tool leaves no audit line, since it starts no process (X34)', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'x')
  outputOf(await fixture.runBuiltin('data.file_read', { path: 'file' }))
  t.same(await fixture.auditLines(), [])
})

t.test('reads that arrive at once run a few at a time, and the event loop gets turns between them', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'a'), 'x')
  let turns = 0
  let over = false
  const turn = (): void => {
    turns += 1
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(Array.from({ length: 100 }, () => read(fixture, { path: 'a' })))
  over = true
  t.ok(turns >= 24, `${turns} turns`)
})
