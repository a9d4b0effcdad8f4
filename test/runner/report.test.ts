import t from 'tap'
import { testFiles } from './files.ts'
import { reportOf } from './report.ts'

const tap = [
  'TAP version 14', '# Subtest: outer', '    ok 1 - fine', '    ok 2 - later # SKIP no Python', '    not ok 3 - not yet # TODO',
  '    not ok 4 - broken', '      ---', '      diff: |', '        -2', '      ...', '    1..4', 'not ok 1 - outer # time=3ms', '1..1', ''
].join('\n')

t.test('a report counts assertions, and has what failed and why another was skipped', t => {
  t.same(reportOf(tap), {
    ok: false,
    passed: 1,
    failed: 1,
    skipped: 2,
    lines: ['skipped outer > later: no Python', 'skipped outer > not yet: no reason given', 'FAILED outer > broken', '  diff:', '    -2']
  })
  t.end()
})

t.test('a file that breaks off is one failure, whatever it has asserted before', t => {
  t.match(reportOf('TAP version 14\nok 1 - fine\n1..1\n', 'It ended with SIGKILL.'), { ok: false, passed: 1, failed: 1, lines: ['It ended with SIGKILL.'] })
  t.match(reportOf(''), { ok: false, failed: 1 })
  t.match(reportOf('TAP version 14\nok 1 - fine\n1..2\n'), { ok: false, passed: 1, failed: 1 })
  t.end()
})

t.test('a test may be named by its source, by a directory or as it was built; without a name the longer suites are left out', t => {
  t.same(testFiles(['test/runner/report.test.ts']), ['test/build/runner/report.test.js'])
  t.same(testFiles(['test/build/runner/report.test.js']), ['test/build/runner/report.test.js'])
  t.ok(testFiles(['./test/faults/']).includes('test/build/faults/drain.test.js'))
  t.notOk(testFiles([]).some(file => file.includes('/faults/')))
  t.ok(testFiles([]).includes('test/build/runner/report.test.js'))
  t.throws(() => testFiles(['test/cli/none.test.ts']), { message: 'No test at test/cli/none.test.ts: name a file or a directory below test/.' })
  t.end()
})
