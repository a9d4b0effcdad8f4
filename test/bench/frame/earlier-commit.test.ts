import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { benchCommit } from './earlier-commit.ts'
import { writeFiles } from '../../support/files.ts'

const checkout = 'export const installDependencies = () => {}\nexport const build = () => {}\n'
/** A bench in short: rows, and a run that writes what it was asked for. */
const bench = {
  'test/bench/frame/report-file.ts': '',
  'scripts/checkout.mjs': checkout,
  'package.json': '{"type":"module"}',
  'test/build/bench/stages.js': 'export const stages = { one: { rows: { quick: {}, slow: {} } } }',
  'test/build/bench/main.js': `
    import { writeFileSync } from 'node:fs'
    const [only, rows, json, file, ...rest] = process.argv.slice(2)
    writeFileSync(file, JSON.stringify({ version: 1, commit: process.cwd(), results: [{ name: rows, verdict: rest.join() }] }))
    process.exitCode = 2`
}

/** A repository with one commit for each set of files; its tags are their names. */
function repository (t: Test, commits: Record<string, Record<string, string>>): string {
  const root = t.testdir()
  const git = (...args: string[]): unknown => execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], { cwd: root, stdio: 'pipe' })
  git('init', '--quiet')
  for (const [tag, files] of Object.entries(commits)) {
    writeFiles(root, files)
    git('add', '--all', '--force')
    git('commit', '--quiet', '--allow-empty', '--message', tag)
    git('tag', tag)
  }
  return root
}

function worktrees (root: string): string[] {
  return execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd: root, encoding: 'utf8' }).split('\n').filter(line => line.startsWith('worktree '))
}

const run = { rows: new Set(['quick']), isQuick: true, say: () => {} }
/** Where this process makes its temporary directories. */
const temporary = mkdtempSync(join(tmpdir(), 'toolyard-bench-test-'))
process.env['TMPDIR'] = temporary
t.teardown(() => { rmSync(temporary, { recursive: true }) })

t.test('a commit is measured in a checkout of its own, which is gone afterwards, whatever is changed in this one', async t => {
  const root = repository(t, { before: bench, now: { 'test/build/bench/main.js': 'process.exit(9)' } })
  rmSync(join(root, 'scripts'), { recursive: true })
  const { commit, results } = await benchCommit({ ...run, name: 'before', root })
  t.match(commit, /toolyard-bench-commit-.*checkout/)
  t.match(results, [{ name: 'quick', verdict: '--quick' }])
  t.equal(worktrees(root).length, 1)
  t.strictSame(readdirSync(temporary), [])
})

t.test("rows that the commit doesn't have are left out and reported; with none of them there is nothing to compare", async t => {
  const root = repository(t, { before: bench })
  const lines: string[] = []
  const report = await benchCommit({ ...run, name: 'HEAD', rows: new Set(['quick', 'new']), root, say: line => lines.push(line) })
  t.match(report.results, [{ name: 'quick' }])
  t.ok(lines.includes('HEAD has no row new: not compared.'))
  await t.rejects(benchCommit({ ...run, name: 'HEAD', rows: new Set(['new']), root }), { message: '--compare HEAD: it has none of these rows: new' })
})

t.test('what is neither a file nor a commit is told as such, also where it looks like an option of git', async t => {
  const root = repository(t, { before: bench })
  for (const name of ['nowhere', '--all', 'HEAD:package.json', '']) {
    await t.rejects(benchCommit({ ...run, name, root }), { message: /neither such a file nor such a commit; name the JSON file/ }, name)
  }
})

t.test('a commit from before the bench is refused before anything is installed', async t => {
  const root = repository(t, { old: { 'package.json': '{}' }, now: bench })
  await t.rejects(benchCommit({ ...run, name: 'old', root }), { message: /--compare old: this commit has no bench.*name a later one/ })
})

t.test('an install or build that fails is told with its last lines, and nothing is left', async t => {
  const failing = `${checkout.replace('{}', '{ console.error("npm error: no network"); process.exit(1) }')}`
  const root = repository(t, { broken: { ...bench, 'scripts/checkout.mjs': failing } })
  await t.rejects(benchCommit({ ...run, name: 'broken', root }), { message: /--compare broken: it can't be installed and built here:\nnpm error: no network/ })
  t.equal(worktrees(root).length, 1)
  t.strictSame(readdirSync(temporary), [])
})
