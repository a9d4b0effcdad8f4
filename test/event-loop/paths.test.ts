import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createFixture, type Fixture } from '../executors/fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'

/** More levels than a path of a built-in tool may have, and as many as it may. */
const tooDeep = 'd/'.repeat(1_000)
const deep = 'e/'.repeat(63)

/** A workspace with directories of both depths, made as tools with a process can make them, and links that lead through all of them. */
function deepFixture (t: Test): Fixture {
  const fixture = createFixture(t, { serviceFiles: ['.env'] })
  for (const way of [tooDeep, deep]) {
    mkdirSync(join(fixture.workspace, way), { recursive: true })
    writeFileSync(join(fixture.workspace, way, 'x.txt'), 'x')
    writeFileSync(join(fixture.workspace, way, '..', '.gitignore'), 'y')
  }
  symlinkSync(`${'e/../'.repeat(700)}e`, join(fixture.workspace, 'link0'))
  for (let at = 1; at < 39; at++) symlinkSync(`link${at - 1}/../${'e/../'.repeat(700)}e`, join(fixture.workspace, `link${at}`))
  return fixture
}

const openFiles = (): number => readdirSync('/proc/self/fd').length

t.test('promise 10: no depth of a path holds up the event loop, in any tool', async t => {
  const fixture = deepFixture(t)
  const calls = (path: string): Array<[string, Record<string, unknown>]> => [
    ['workspace.stat', { path }],
    ['workspace.list', { path: join(path, '..') }],
    ['data.file_read', { path }],
    ['data.write_file', { path: join(path, '../new/file'), content: 'x', create_if_missing: true, mkdir_p: true }],
    ['workspace.move', { from: path, to: path }],
    ['tools.file_search', { query: 'x', path: join(path, '..') }],
    ['tools.find_in_files', { query: 'x', files: Array.from({ length: 200 }, (_, at) => `${'./'.repeat(at)}${path}`) }]
  ]
  for (const path of [`${tooDeep}x.txt`, `${deep}x.txt`, 'link38/x.txt', `${tooDeep}${tooDeep}x.txt`]) {
    for (const [jobType, args] of calls(path)) {
      await leavesLoopFree(t, `${jobType} at ${path.slice(0, 12)}`, () => Promise.all(Array.from({ length: jobType.startsWith('tools') ? 2 : 8 }, () => fixture.runBuiltinOnly(jobType, args))))
    }
  }
})

t.test('a call keeps few files open, however deep its path, and none after its end', async t => {
  const fixture = deepFixture(t)
  const before = openFiles()
  for (const path of [tooDeep, deep, 'link38']) {
    let most = 0
    let running = 1
    const watch = (): void => {
      most = Math.max(most, openFiles() - before)
      if (running > 0) setImmediate(watch)
    }
    watch()
    await fixture.runBuiltinOnly('tools.file_search', { query: 'x', path })
    await fixture.runBuiltinOnly('tools.find_in_files', { query: 'x', files: Array.from({ length: 200 }, () => join(path, 'x.txt')) })
    running = 0
    t.ok(most < 150, `${most} files at once`)
  }
})

t.test('promise 3: a search in a deep directory ends with its timeout', async t => {
  const fixture = deepFixture(t)
  await fixture.runBuiltinOnly('tools.file_search', { query: 'x' })
  const before = openFiles()
  for (const path of [tooDeep, deep, '.']) {
    const began = performance.now()
    await fixture.runBuiltinOnly('tools.file_search', { query: 'x', path }, { timeoutMs: 1_000 })
    t.ok(performance.now() - began < 3_500, 'a thread has two seconds to notice')
    t.ok(openFiles() <= before + 2, 'nothing goes on')
  }
})
