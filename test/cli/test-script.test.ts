import t from 'tap'

interface Scripts {
  TestReport: new () => { counts: { passed: number, failed: number, skipped: number }, read: (line: string) => string | undefined }
  builtPath: (argument: string) => string
}

const load = async (name: string): Promise<Scripts> => await import(new URL(`../../../scripts/${name}`, import.meta.url).href) as Scripts

await t.test('the report tells of files, failures and the counts of tap', async t => {
  const { TestReport } = await load('test-report.mjs')
  const report = new TestReport()
  const tap = [
    'TAP version 14', '# Subtest: a.js', '    ok 1 - fine', '    ok 2 - later # SKIP no Python', '    not ok 3 - not yet # TODO',
    '    not ok 4 - broken', '      ---', '      diff: |', '        -2', '      ...', '    1..4', 'not ok 1 - a.js # time=3ms', '  ---', '  exitCode: 1', '  ...',
    'ok 2 - b.js # time=1ms', '# { total: 5, pass: 2, fail: 1, todo: 1, skip: 1 }'
  ]
  t.same(tap.map(line => report.read(line)).filter(line => line !== undefined), [
    '    FAILED broken', '      diff: |', '        -2', 'FAILED a.js # time=3ms', '  exitCode: 1', 'ok     b.js # time=1ms'
  ])
  t.same(report.counts, { passed: 2, failed: 1, skipped: 2 })
})

await t.test('output that breaks off has no counts', async t => {
  const { TestReport } = await load('test-report.mjs')
  const report = new TestReport()
  report.read('TAP version 14')
  t.same(report.counts, { passed: 0, failed: 0, skipped: 0 })
})

await t.test('a test may be named by its source, by a directory or as it was built', async t => {
  const { builtPath } = await load('test-paths.mjs')
  t.equal(builtPath('test/cli/start.test.ts'), 'test/build/cli/start.test.js')
  t.equal(builtPath('./test/cli/'), 'test/build/cli/**/*.test.js')
  t.equal(builtPath('test/build/cli/start.test.js'), 'test/build/cli/start.test.js')
  t.equal(builtPath('--bail'), '--bail')
})
