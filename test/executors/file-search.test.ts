import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { createFixture, outputOf, type Fixture } from './fixture.ts'
import { writeFiles } from '../support/files.ts'

interface Found {
  results: Array<{ path: string, type: string }>
  [field: string]: unknown
}

const failed = (message: string): object => ({ ok: false, error: { code: 'TOOL_FAILED', message } })
const search = async (fixture: Fixture, args: Record<string, unknown>): Promise<Outcome> => await fixture.runBuiltin('tools.file_search', args)
const found = async (fixture: Fixture, args: Record<string, unknown>): Promise<Found> => outputOf(await search(fixture, args)) as Found
const paths = async (fixture: Fixture, args: Record<string, unknown>): Promise<string[]> =>
  (await found(fixture, args)).results.map(({ path }) => path)

function makeFiles (fixture: Fixture, ...files: string[]): void {
  writeFiles(fixture.workspace, Object.fromEntries(files.map(file => [file, ''])))
}

t.test('R8 R47 RC38 X11 files and directories are found by their path, with their type', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, 'test.txt', 'src/tests/a.js', 'other')
  t.same(await search(fixture, { query: 'test' }), {
    ok: true,
    output: {
      ok: true,
      query: 'test',
      base_path: '.',
      results: [{ path: 'src/tests', type: 'directory' }, { path: 'src/tests/a.js', type: 'file' }, { path: 'test.txt', type: 'file' }],
      result_count: 3,
      has_more: false,
      truncated: false,
      scanned: 5
    }
  })
})

t.test('RC38 the query is matched in any case, literally, also across directories', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, 'Docs/ReadMe.md', 'docs2/x', 'a.b', 'axb')
  t.same(await paths(fixture, { query: 'README' }), ['Docs/ReadMe.md'])
  t.same(await paths(fixture, { query: 'docs/read' }), ['Docs/ReadMe.md'])
  t.same(await paths(fixture, { query: 'a.b' }), ['a.b'])
  t.same(await paths(fixture, { query: '.*' }), [])
})

t.test('RC38 path limits the search to a directory, and results stay relative to the workspace', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, 'a/x/file', 'b/file')
  t.same(await found(fixture, { query: 'file', path: 'a' }).then(({ base_path: base, results }) => ({ base, results })), { base: 'a', results: [{ path: 'a/x/file', type: 'file' }] })
  t.same(await paths(fixture, { query: 'file', path: join(fixture.workspace, 'b') }), ['b/file'])
})

t.test('RC38 hidden entries and what is below them are left out unless they are asked for', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, '.git/file', '.file', 'a/.file', 'a/file', '..hidden-file')
  t.same(await paths(fixture, { query: 'file' }), ['a/file'])
  t.same(await paths(fixture, { query: 'file', include_hidden: true }), ['..hidden-file', '.file', '.git/file', 'a/.file', 'a/file'])
})

t.test('RC38 max_results is 30 by default, and has_more says that there are more', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, ...Array.from({ length: 31 }, (_, index) => `file-${String(index).padStart(2, '0')}`))
  t.match(await found(fixture, { query: 'file' }), { result_count: 30, has_more: true, truncated: false })
  t.match(await found(fixture, { query: 'file', max_results: 31 }), { result_count: 31, has_more: false })
  t.same(await paths(fixture, { query: 'file', max_results: 2 }), ['file-00', 'file-01'])
  for (const bad of [0, 201, 1.5, '5']) t.match(await found(fixture, { query: 'file', max_results: bad }), { result_count: 30 })
})

t.test('RC38 the order is that of the names, the same every time', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, 'b/2', 'b/1', 'a/3', 'c', 'B')
  t.same(await paths(fixture, { query: 'b' }), ['B', 'b', 'b/1', 'b/2'])
})

t.test('RC38 the documented errors', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, 'file')
  for (const query of [undefined, '', ' ', 5]) t.same(await search(fixture, { query }), failed('query is required'))
  t.same(await search(fixture, { query: 'x', path: 'missing' }), failed('path not found'))
  t.same(await search(fixture, { query: 'x', path: 'file' }), failed('path is not a directory'))
})

t.test('links within the workspace are listed with the type of their target, and never followed', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, 'dir/file')
  symlinkSync('..', join(fixture.workspace, 'dir', 'up-link'))
  symlinkSync('dir/file', join(fixture.workspace, 'file-link'))
  symlinkSync('nowhere', join(fixture.workspace, 'dead-link'))
  t.same((await found(fixture, { query: 'link' })).results, [{ path: 'dir/up-link', type: 'directory' }, { path: 'file-link', type: 'file' }])
})

t.test('entries that are neither files nor directories are left out', async t => {
  const fixture = createFixture(t)
  execFileSync('mkfifo', [join(fixture.workspace, 'a-fifo')])
  t.same(await paths(fixture, { query: 'fifo' }), [])
})

t.test('a search leaves the event loop free', async t => {
  const fixture = createFixture(t)
  makeFiles(fixture, ...Array.from({ length: 2_000 }, (_, index) => `d${index % 20}/f${index}`))
  let turns = 0
  const timer = setInterval(() => { turns += 1 }, 1)
  await search(fixture, { query: 'nothing-like-it' })
  clearInterval(timer)
  t.ok(turns > 0)
})
