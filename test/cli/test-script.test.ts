import t from 'tap'

interface Script {
  readCounts: (tap: string) => { passed: number, failed: number, skipped: number }
  builtPath: (argument: string) => string
}

const load = async (name: string): Promise<Script> => await import(new URL(`../../../scripts/${name}`, import.meta.url).href) as Script

await t.test('the counts are those of the last summary of tap', async t => {
  const { readCounts } = await load('test-counts.mjs')
  t.same(readCounts('TAP version 14\n# { total: 10, pass: 5, fail: 2, todo: 1, skip: 2 }\n# time=1ms\n'), { passed: 5, failed: 2, skipped: 3 })
  t.same(readCounts('    # { total: 3, fail: 3 }\n# { total: 1, pass: 1 }\n'), { passed: 1, failed: 0, skipped: 0 })
  t.same(readCounts('TAP version 14\n'), { passed: 0, failed: 0, skipped: 0 })
})

await t.test('a test may be named by its source, by a directory or as it was built', async t => {
  const { builtPath } = await load('test-paths.mjs')
  t.equal(builtPath('test/cli/start.test.ts'), 'test/build/cli/start.test.js')
  t.equal(builtPath('./test/cli/'), 'test/build/cli/**/*.test.js')
  t.equal(builtPath('test/build/cli/start.test.js'), 'test/build/cli/start.test.js')
  t.equal(builtPath('--bail'), '--bail')
})
