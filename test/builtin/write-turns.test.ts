import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createFixture, outputOf } from '../executors/fixture.ts'

const lockOf = (name: string): string => `.toolyard-${createHash('sha256').update(name).digest('hex').slice(0, 32)}.lock`

async function writer (workspace: string, name: string, count: number): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('turn-writer.js', import.meta.url)), workspace, name, String(count)], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit') as [number]
  if (code !== 0) throw new Error(`a writer ended with ${code}`)
}

t.test('RC37 writers of one file take turns, over processes: nothing that one wrote is lost', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), '')
  const names = ['a', 'b', 'c']
  await Promise.all(names.map(name => writer(fixture.workspace, name, 40)))
  const lines = readFileSync(join(fixture.workspace, 'file'), 'utf8').trimEnd().split('\n')
  t.same(lines.sort(), names.flatMap(name => Array.from({ length: 40 }, (_, index) => `${name}-${index}`)).sort())
  t.same(readdirSync(fixture.workspace), ['file'], 'no lock and no temporary file is left')
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

t.test('RC37 the lock of a writer that died is taken over, also by many at once', { skip: process.platform !== 'linux' }, async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), '')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const child = spawn(process.execPath, ['-e', "process.stdout.write(require('fs').readlinkSync('/proc/self/ns/pid'))"], { stdio: ['ignore', 'pipe', 'inherit'] })
  let namespace = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => { namespace += text })
  await once(child, 'close')
  symlinkSync(`${boot}${namespace} ${child.pid} 1 dead`, join(fixture.workspace, lockOf('file')))
  await Promise.all(Array.from({ length: 20 }, async (_, index) => outputOf(await fixture.runBuiltin('data.write_file', { path: 'file', mode: 'append', content: `${index}\n` }))))
  t.same(readFileSync(join(fixture.workspace, 'file'), 'utf8').trimEnd().split('\n').sort(), Array.from({ length: 20 }, (_, index) => String(index)).sort())
  t.same(readdirSync(fixture.workspace), ['file'])
})

t.test('RC37 the lock of a writer elsewhere is waited for, until the timeout', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, 'file'), 'old')
  const lock = join(fixture.workspace, lockOf('file'))
  symlinkSync('another-machine 1 1 alive', lock)
  t.match(await fixture.runBuiltin('data.write_file', { path: 'file', content: 'new' }, { timeoutMs: 200 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.equal(readFileSync(join(fixture.workspace, 'file'), 'utf8'), 'old')
  t.ok(lstatSync(lock).isSymbolicLink(), 'the lock of another is left alone')
})

t.test('B36 no tool shows what writing needs beside the file', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.workspace, '.file'), 'toolyard')
  writeFileSync(join(fixture.workspace, `.toolyard-${'0'.repeat(32)}.tmp`), 'toolyard')
  t.match(outputOf(await fixture.runBuiltin('workspace.list', { include_hidden: true })), { total_count: 1 })
  t.match(outputOf(await fixture.runBuiltin('tools.file_search', { query: 'o', include_hidden: true })), { result_count: 0 })
  t.match(outputOf(await fixture.runBuiltin('tools.find_in_files', { query: 'toolyard', include_hidden: true })), { match_count: 1 })
})
