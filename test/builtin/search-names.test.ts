import t from 'tap'
import { createFixture, outputOf, type Fixture } from '../executors/fixture.ts'
import { writeFiles } from '../support/files.ts'

interface Found {
  results: Array<{ path: string, type: string }>
  has_more: boolean
  next_cursor?: string
}

const found = async (fixture: Fixture, args: Record<string, unknown>): Promise<Found> => outputOf(await fixture.runBuiltin('tools.file_search', args)) as Found
const paths = async (fixture: Fixture, args: Record<string, unknown>): Promise<string[]> =>
  (await found(fixture, args)).results.map(({ path }) => path)

t.test('RC38 files that .gitignore names are left out, unless they are asked for', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { '.gitignore': 'node_modules/\n/only-here\n', 'node_modules/x/file': '', 'only-here': '', 'a/only-here': '', 'a/.gitignore': '*.tmp\n!file.tmp\n', 'a/x.tmp': '', 'a/file.tmp': '' })
  t.same(await paths(fixture, { query: 'o' }), ['a/only-here'])
  t.same(await paths(fixture, { query: 'tmp' }), ['a/file.tmp'])
  t.same(await paths(fixture, { query: 'x', path: 'node_modules' }), ['node_modules/x', 'node_modules/x/file'], 'an ignored directory can be asked for by name')
  t.same(await paths(fixture, { query: 'only', include_ignored: true }), ['a/only-here', 'only-here'])
})

t.test('RC38 a glob matches names; with a slash it matches paths', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, { 'a/one.ts': '', 'a/b/two.ts': '', 'a/two.md': '', 'c.ts': '' })
  t.same(await paths(fixture, { query: '.', glob: '*.ts' }), ['a/b/two.ts', 'a/one.ts', 'c.ts'])
  t.same(await paths(fixture, { query: 't', glob: 'a/*' }), ['a/one.ts', 'a/two.md'])
  t.same(await paths(fixture, { query: 't', glob: '**/*.{md,ts}', path: 'a' }), ['a/b/two.ts', 'a/one.ts', 'a/two.md'])
})

t.test('RC38 no entry is missing between two pages, and none is on both', async t => {
  const fixture = createFixture(t)
  writeFiles(fixture.workspace, Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index % 4}/f${index % 3}/f${index}`, ''])))
  const all = await paths(fixture, { query: 'f', max_results: 200 })
  for (const size of [1, 2, 7]) {
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const page = await found(fixture, { query: 'f', max_results: size, ...cursor === undefined ? {} : { cursor } })
      paged.push(...page.results.map(({ path }) => path))
      cursor = page.next_cursor
    } while (cursor !== undefined)
    t.same(paged, all)
  }
})
