import { existsSync, readdirSync } from 'node:fs'
import t from 'tap'
import { testFiles } from './files.ts'
import { reportOf } from './report.ts'
import { daily, everything, suites } from './suites.ts'

const tap = [
  'TAP version 14', '# Subtest: outer', '    ok 1 - fine', '    ok 2 - later # SKIP no Python', '    not ok 3 - not yet # TODO',
  '    not ok 4 - broken', '      ---', '      diff: |', '        -2', '      ...', '    1..4', 'not ok 1 - outer # time=3ms', '1..1', ''
].join('\n')

t.test('a report counts assertions, and lists skipped tests with the reason', async t => {
  t.same(reportOf(tap), { ok: false, passed: 1, failed: 1, skipped: ['outer > later: no Python', 'outer > not yet: no reason given'] })
})

t.test('a file that ends early is one failure, whatever it has asserted before', async t => {
  t.match(reportOf('TAP version 14\nok 1 - fine\n1..1\n', false), { ok: false, passed: 1, failed: 1 })
  t.match(reportOf(''), { ok: false, failed: 1 })
  t.match(reportOf('TAP version 14\nok 1 - fine\n1..2\n'), { ok: false, passed: 1, failed: 1 })
})

t.test('a file without an assertion fails, even if it has tests', async t => {
  t.match(reportOf('TAP version 14\n1..0\n'), { ok: false, failed: 1 })
  t.match(reportOf('TAP version 14\n# Subtest: empty\n    1..0\nok 1 - empty\n\n1..1\n'), { ok: false, failed: 1 })
})

t.test('tests may be named by source, directory, built file or suite', async t => {
  const paths = (names: string[]): string[] => testFiles(names).map(({ path }) => path)
  t.same(paths(['test/runner/report.test.ts']), ['test/build/runner/report.test.js'])
  t.same(paths(['test/build/runner/report.test.js']), ['test/build/runner/report.test.js'])
  t.ok(paths(['./test/faults/']).includes('test/build/faults/drain.test.js'))
  t.same(paths(['faults']), paths(['test/faults']))
  t.notOk(paths(daily).some(file => file.includes('/faults/')))
  t.ok(paths(daily).includes('test/build/runner/report.test.js'))
  t.throws(() => testFiles(['test/cli/none.test.ts']), { message: /^No test at test\/cli\/none.test.ts: name a file or a directory below test\// })
})

t.test('a file that is named runs as the suite does that it is of, and once for each suite that is named', async t => {
  t.match(testFiles(['test/faults/escape.test.ts']), [{ title: 'faults: test/faults/escape', timeoutSec: suites['faults']?.timeoutSec, env: undefined }])
  t.same(testFiles(['faults', 'warm']).filter(({ path }) => path.endsWith('/escape.test.js')).map(({ title, env }) => [title, env]), [
    ['faults: test/faults/escape', undefined], ['warm: test/faults/escape', suites['warm']?.env]
  ])
})

t.test('every directory with tests is of one suite, which CI runs', async t => {
  const withTests = readdirSync('test', { withFileTypes: true }).filter(entry => entry.isDirectory() && !['build', 'bundle'].includes(entry.name))
    .filter(({ name }) => readdirSync(`test/${name}`, { recursive: true, encoding: 'utf8' }).some(file => file.endsWith('.test.ts'))).map(({ name }) => name)
  const again = ['backend', 'warm']
  const named = Object.entries(suites).filter(([name]) => !again.includes(name)).flatMap(([, { paths }]) => paths)
  t.strictSame(named.filter(path => !path.includes('/')).sort(), withTests.sort())
  for (const path of Object.values(suites).flatMap(({ paths }) => paths).filter(path => path.includes('/'))) t.ok(existsSync(`test/${path}.test.ts`), path)
  t.strictSame(everything, Object.keys(suites).filter(name => name !== 'backend'))
})
