import fc from 'fast-check'
import { closeSync, openSync, symlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { createFixture, outputOf, type Fixture } from '../executors/fixture.ts'
import { untilLate } from '../support/until-late.ts'
import { writeFiles } from '../support/files.ts'

interface Match {
  path: string
  line: number
  column: number
  text: string
  before?: string[]
  after?: string[]
}

interface Found {
  matches: Match[]
  match_count: number
  has_more: boolean
  truncated: boolean
  skipped_binary_files: number
  next_cursor?: string
}

const failed = (message: string): object => ({ ok: false, error: { code: 'TOOL_FAILED', message } })
const find = async (fixture: Fixture, args: Record<string, unknown>): Promise<Outcome> => await fixture.runBuiltin('tools.find_in_files', args)
const found = async (fixture: Fixture, args: Record<string, unknown>): Promise<Found> => outputOf(await find(fixture, args)) as Found
const places = async (fixture: Fixture, args: Record<string, unknown>): Promise<string[]> => (await found(fixture, args)).matches.map(({ path, line, column }) => `${path}:${line}:${column}`)

t.test('a search has its whole time though the clock of the machine is set forward while it begins', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}.txt`, 'a needle'])))
  const now = Date.now
  t.teardown(() => { Date.now = now })
  // Its thread has a clock of its own, which goes on.
  Date.now = () => now() - 3_600_000
  t.match(await found(fixture, { query: 'needle' }), { match_count: 50, truncated: false, has_more: false })
})

t.test('RC39 lines are found with their places, ordered by path', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { 'b.txt': 'no\nA needle, a Needle\n', 'a/z.txt': 'é needle', 'a.txt': 'nothing\r\nneedle\r\n' })
  t.same(await found(fixture, { query: 'needle' }), {
    ok: true,
    query: 'needle',
    base_path: '.',
    matches: [
      { path: 'a/z.txt', line: 1, column: 3, text: 'é needle' },
      { path: 'a.txt', line: 2, column: 1, text: 'needle' },
      { path: 'b.txt', line: 2, column: 3, text: 'A needle, a Needle' }
    ],
    match_count: 3,
    has_more: false,
    truncated: false,
    skipped_binary_files: 0
  })
  t.same(await places(fixture, { query: 'Needle', case_sensitive: true }), ['b.txt:2:13'])
  t.same(await places(fixture, { query: 'É NEEDLE' }), ['a/z.txt:1:1'])
  t.same(await places(fixture, { query: 'needle', path: 'a' }), ['a/z.txt:1:3'])
  t.same(await places(fixture, { query: 'needle', files: ['b.txt', './a/z.txt'] }), ['a/z.txt:1:3', 'b.txt:2:3'])
  t.same(await places(fixture, { query: 'needle', glob: '*.txt', path: 'a' }), ['a/z.txt:1:3'])
  t.same(await places(fixture, { query: 'needle', glob: 'a/**' }), ['a/z.txt:1:3'])
})

t.test('RC39 a query that isn\'t an expression is matched literally', async t => {
  const fixture = createFixture(t)
  const chars = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at))
  writeFiles(fixture.workspace, { f: chars.map(char => `a${char}b\n`).join('') })
  for (const [at, char] of chars.entries()) {
    for (const query of [`a${char}b`, `A${char}B`]) t.strictSame(await places(fixture, { query }), [...new Set(chars.map((other, line) => other.toLowerCase() === char.toLowerCase() ? `f:${line + 1}:1` : ''))].filter(place => place !== ''), `${query} (${at})`)
  }
  t.strictSame(await places(fixture, { query: '-', max_results: 1 }), ['f:13:2'])
})

t.test('RC39 B33 expressions are those of RE2, and match within a line', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { f: 'foo1 bar\nfoo\u00e9\nétoile\nx\n\ny  \n(a|b)\n', crlf: 'foo\r\nbar\r\n' })
  const regex = async (query: string): Promise<string[]> => await places(fixture, { query, regex: true, case_sensitive: true })
  t.same(await regex('^foo\\d'), ['f:1:1'])
  t.same(await regex('foo$'), ['crlf:1:1'])
  t.same(await regex('\\bfoo\\b'), ['crlf:1:1', 'f:2:1'], 'word boundaries are those of ASCII')
  t.same(await regex('^.toile$'), ['f:3:1'])
  t.same(await regex('^$'), ['f:5:1'])
  t.same(await regex('\\s+$'), ['f:6:2'])
  t.same(await regex('[\\w-]+\\W[\\w]{3}$'), ['f:1:1'])
  t.same(await regex('x\\s+y'), [], 'nothing is found over lines')
  t.same(await places(fixture, { query: '(a|b)' }), ['f:7:1'])
  t.same(await places(fixture, { query: 'FOO[0-9]', regex: true }), ['f:1:1'])
  t.same(await regex('\\pL\\d'), ['f:1:3'])
  t.match(await find(fixture, { query: '(', regex: true }), { ok: false, error: { message: /^query is not a regular expression of RE2's syntax/ } })
  t.match(await find(fixture, { query: '(a)\\1', regex: true }), { ok: false })
})

/** Expressions that mean the same to JavaScript, which tells what must be found. */
const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '^', '$', '\\b', 'ab', '\\w', '[^\\w]')
const { expression } = fc.letrec<{ expression: string, piece: string }>(tie => ({
  expression: fc.array(tie('piece'), { minLength: 1, maxLength: 4 }).map(pieces => pieces.join('')),
  piece: fc.oneof({ depthSize: 'small' }, atom, fc.tuple(tie('expression'), tie('expression'), fc.constantFrom('', '*', '+', '?')).map(([one, other, times]) => `(?:${one}|${other})${times}`))
}))
const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' ', 'é'), maxLength: 6 }), { minLength: 1, maxLength: 8 })

t.test('RC39 property: an expression finds the lines that it matches, and no others', async t => {
  const fixture = createFixture(t)
  await fc.assert(fc.asyncProperty(expression.filter(({ length }) => length <= 200), lines, fc.boolean(), untilLate(4_000, async (
    query, texts, caseSensitive
  ) => {
    writeFiles(fixture.workspace, { f: texts.map(text => `${text}\n`).join('') })
    const wanted = new RegExp(query, caseSensitive ? '' : 'i')
    const expected = texts.flatMap((text, index) => wanted.test(text) ? [index + 1] : [])
    const { matches } = await found(fixture, { query, regex: true, case_sensitive: caseSensitive })
    if (JSON.stringify(matches.map(({ line }) => line)) !== JSON.stringify(expected)) throw new Error(`${query} found ${JSON.stringify(matches)}, not lines ${expected.join()}`)
  })), { numRuns: 1_000 })
  t.pass('they agree')
})

t.test('RC39 hidden, ignored and linked files are left out, unless they are asked for', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, {
    '.gitignore': 'build/\n*.log\n!keep.log\n',
    'build/out.txt': 'needle',
    'a.log': 'needle',
    'keep.log': 'needle',
    'src/.gitignore': '/local.txt\n!a.log\n',
    'src/local.txt': 'needle',
    'src/deep/local.txt': 'needle',
    'src/a.log': 'needle',
    '.hidden/x': 'needle'
  })
  symlinkSync('../keep.log', join(fixture.workspace, 'src/link'))
  t.same(await places(fixture, { query: 'needle' }), ['keep.log:1:1', 'src/a.log:1:1', 'src/deep/local.txt:1:1'])
  t.same(await places(fixture, { query: 'needle', path: 'src/deep', include_ignored: true }), ['src/deep/local.txt:1:1'])
  t.same(await places(fixture, { query: 'needle', path: 'build' }), ['build/out.txt:1:1'], 'what is asked for by name is searched')
  t.same(await places(fixture, { query: 'needle', include_ignored: true }), ['a.log:1:1', 'build/out.txt:1:1', 'keep.log:1:1', 'src/a.log:1:1', 'src/deep/local.txt:1:1', 'src/local.txt:1:1'])
  t.same(await places(fixture, { query: 'needle', include_hidden: true, glob: 'x' }), ['.hidden/x:1:1'])
  t.same(await places(fixture, { query: 'needle', files: ['a.log', '.hidden/x', 'src/link'] }), ['.hidden/x:1:1', 'a.log:1:1', 'keep.log:1:1'])
})

t.test('RC39 no line is missing between two pages, and none is on both', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`d${index % 3}/f${index}`, 'needle\nhay\nneedle needle\n'.repeat(2)])))
  const all = await places(fixture, { query: 'needle' })
  t.equal(all.length, 48)
  const paged: string[] = []
  let cursor: string | undefined
  do {
    const page = await found(fixture, { query: 'needle', max_results: 5, ...cursor === undefined ? {} : { cursor } })
    paged.push(...page.matches.map(({ path, line, column }) => `${path}:${line}:${column}`))
    t.equal(page.has_more, page.next_cursor !== undefined)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  t.same(paged, all)
  t.same(await find(fixture, { query: 'x', cursor: 'nonsense' }), failed('cursor is not one that this tool returned'))
})

t.test('RC39 max_results is 100 by default and at most 500', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { f: 'needle\n'.repeat(600) })
  t.match(await found(fixture, { query: 'needle' }), { match_count: 100, has_more: true })
  t.match(await found(fixture, { query: 'needle', max_results: 500 }), { match_count: 500, has_more: true })
  t.match(await found(fixture, { query: 'needle', max_results: 501 }), { match_count: 100 })
})

t.test('RC39 context lines come with a match', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { f: 'one\ntwo\nneedle\nfour\n' })
  t.same((await found(fixture, { query: 'needle', context_lines: 1 })).matches, [{ path: 'f', line: 3, column: 1, text: 'needle', before: ['two'], after: ['four'] }])
  t.match((await found(fixture, { query: 'needle', context_lines: 5 })).matches, [{ before: ['one', 'two'], after: ['four'] }])
})

t.test('RC39 a binary file that matches is counted, not shown', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { binary: Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from('needle')]), other: Buffer.from([0, 1]), text: 'needle', latin: Buffer.from('caf\xe9 needle', 'latin1') })
  t.match(await found(fixture, { query: 'needle' }), { matches: [{ path: 'latin', column: 6 }, { path: 'text' }], skipped_binary_files: 1 })
})

t.test('of a long line the part around its match is shown; line numbers stay right across blocks', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { long: `${'x'.repeat(3_000_000)}needle${'y'.repeat(1_000)}\n`, many: `${'line\n'.repeat(500_000)}a needle\n` })
  const { matches: [long, many] } = await found(fixture, { query: 'needle' })
  t.equal(long?.text.length, 500)
  t.ok(long?.text.includes('needle'))
  t.match(many, { line: 500_001, column: 3, text: 'a needle' })
})

t.test('RC39 a file of 1 GB is searched to its end, in little memory', async t => {
  const fixture = createFixture(t)
  const size = 1_073_741_824
  const file = openSync(join(fixture.workspace, 'huge'), 'w')
  writeSync(file, 'line\n'.repeat(2_000), 0)
  writeSync(file, '\na needle\n', size - 10)
  closeSync(file)
  await places(fixture, { query: 'warm up', case_sensitive: true, glob: 'nothing' })
  const before = process.memoryUsage.rss()
  const { matches } = await found(fixture, { query: 'a needle', case_sensitive: true })
  t.match(matches, [{ path: 'huge', column: 1, text: 'a needle' }])
  t.ok(process.memoryUsage.rss() - before < 100_000_000, 'memory does not grow with the file')
})

t.test('RC39 the documented errors', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { file: 'x' })
  for (const query of [undefined, '', 5]) t.same(await find(fixture, { query }), failed('query is required'))
  t.same(await find(fixture, { query: 'a\nb' }), failed('query must be one line: lines are searched one by one'))
  t.same(await find(fixture, { query: 'x', path: 'missing' }), failed('path not found'))
  t.same(await find(fixture, { query: 'x', path: 'file' }), failed('path is not a directory'))
  t.same(await find(fixture, { query: 'x', files: ['file', 'missing'] }), failed('file not found: missing'))
  t.same(await find(fixture, { query: 'x', files: ['../x'] }), failed('path escapes workspace root'))
})

t.test('B33 an expression that would backtrack in other engines, and a slow one, don\'t block the event loop', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { f: `${'a'.repeat(200_000)}\n`.repeat(5) })
  let turns = 0
  const timer = setInterval(() => { turns += 1 }, 5)
  t.same(await places(fixture, { query: '(a+)+$b', regex: true }), [])
  await fixture.runBuiltin('tools.find_in_files', { query: '[ab]{500}[bc]{400}x', regex: true }, { timeoutMs: 1_000 })
  clearInterval(timer)
  t.ok(turns > 3)
})

t.test('fault 9 a search ends with its timeout and with its cancel', async t => {
  const fixture = createFixture(t)
  // Only the end of each line matches: that there is a match is found at once, where it begins takes seconds.
  writeFiles(fixture.workspace, { f: `${'a'.repeat(500_000)}${'b'.repeat(400)}x\n`.repeat(20) })
  const slow = { query: '[ab]{500}[bc]{400}x', regex: true }
  const late = await fixture.runBuiltin('tools.find_in_files', slow, { timeoutMs: 300 })
  t.match(late, late.ok ? { output: { truncated: true } } : { error: { code: 'TOOL_TIMEOUT' } }, 'it answers with what it has, or not at all')
  const stop = new AbortController()
  const search = fixture.runBuiltin('tools.find_in_files', slow, { signal: stop.signal })
  setTimeout(() => { stop.abort() }, 100)
  t.match(await search, { ok: false, error: { code: 'JOB_CANCELLED' } })
})
