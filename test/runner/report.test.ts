import { existsSync, readdirSync } from 'node:fs'
import t from 'tap'
import { testFiles } from './files.ts'
import { kinds } from './kinds.ts'
import { reportOf } from './report.ts'

const tap = [
  'TAP version 14', '# Subtest: outer', '    ok 1 - fine', '    ok 2 - later # SKIP no Python', '    not ok 3 - not yet # TODO',
  '    not ok 4 - broken', '      ---', '      diff: |', '        -2', '      ...', '    1..4', 'not ok 1 - outer # time=3ms', '1..1', ''
].join('\n')

t.test('a report counts assertions, and lists skipped tests with the reason', t => {
  t.same(reportOf(tap), { ok: false, passed: 1, failed: 1, skipped: ['outer > later: no Python', 'outer > not yet: no reason given'] })
  t.end()
})

t.test('a file that ends early is one failure, whatever it has asserted before', t => {
  t.match(reportOf('TAP version 14\nok 1 - fine\n1..1\n', false), { ok: false, passed: 1, failed: 1 })
  t.match(reportOf(''), { ok: false, failed: 1 })
  t.match(reportOf('TAP version 14\nok 1 - fine\n1..2\n'), { ok: false, passed: 1, failed: 1 })
  t.end()
})

t.test('a file without an assertion fails, even if it has tests', t => {
  t.match(reportOf('TAP version 14\n1..0\n'), { ok: false, failed: 1 })
  t.match(reportOf('TAP version 14\n# Subtest: empty\n    1..0\nok 1 - empty\n\n1..1\n'), { ok: false, failed: 1 })
  t.end()
})

t.test('tests may be named by source, directory, built file or kind; without a name the daily kinds are run', t => {
  t.same(testFiles(['test/runner/report.test.ts']), ['test/build/runner/report.test.js'])
  t.same(testFiles(['test/build/runner/report.test.js']), ['test/build/runner/report.test.js'])
  t.ok(testFiles(['./test/faults/']).includes('test/build/faults/drain.test.js'))
  t.same(testFiles(['faults']), testFiles(['test/faults']))
  t.notOk(testFiles([]).some(file => file.includes('/faults/')))
  t.ok(testFiles([]).includes('test/build/runner/report.test.js'))
  t.throws(() => testFiles(['test/cli/none.test.ts']), { message: /^No test at test\/cli\/none.test.ts: name a file or a directory below test\// })
  t.end()
})

t.test('every directory with tests is of one kind', t => {
  const withTests = readdirSync('test', { withFileTypes: true }).filter(entry => entry.isDirectory() && !['build', 'bundle'].includes(entry.name))
    .filter(({ name }) => readdirSync(`test/${name}`, { recursive: true, encoding: 'utf8' }).some(file => file.endsWith('.test.ts'))).map(({ name }) => name)
  const named = Object.values(kinds).flat()
  t.strictSame(named.filter(name => !name.includes('/')).sort(), withTests.sort())
  for (const name of named.filter(name => name.includes('/'))) t.ok(existsSync(`test/${name}.test.ts`), name)
  t.end()
})
