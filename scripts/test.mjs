/**
 * `npm test`: installs and builds what is missing, sees to a Redis server for the tests to start, and runs them. Without
 * names these are the tests of every day; `everything` is what CI runs. Suites (test/runner/suites.ts) run from few files.
 * Tests may also be named by source or directory: `npm test -- test/cli/help.test.ts`; they run as they were compiled.
 * `--jobs=N` lets at most so many files run at a time, and with `--again` a file that failed is run once more by itself.
 * The last line is `N passed, N failed`, in assertions.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, checkNode, installDependencies, root } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
build()
removeStale()
await provideRedis()
await provideSandbox()
namePython()
process.exitCode = await runTests()

/** A test whose source is gone must not run again. */
function removeStale () {
  for (const file of readdirSync('test/build', { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.test.js') && !existsSync(join('test', file.replace(/js$/, 'ts')))) rmSync(join('test/build', file))
  }
}

async function provideRedis () {
  const { ensureRedisServer } = await import('@toolyard/store/server')
  try {
    await ensureRedisServer({ env: process.env, say: console.log })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}

/** Tests that need bubblewrap are skipped without it, and say so. */
async function provideSandbox () {
  const { ensureBubblewrap } = await import('@toolyard/runtime/install')
  await ensureBubblewrap({ env: process.env, say: console.log })
}

/** The `python3` of a version manager is a script that looks for the real one, which takes up to a second at each start. */
function namePython () {
  const { status, stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' })
  if (status === 0) process.env['PATH'] = [dirname(stdout.trim()), process.env['PATH']].join(delimiter)
}

/** @returns {Promise<number>} the exit status */
async function runTests () {
  const [{ testFiles }, { daily, everything, mostFiles, suites }, { runFiles }] = await Promise.all([
    import('../test/build/runner/files.js'), import('../test/build/runner/suites.js'), import('../test/build/runner/run.js')
  ])
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { jobs: { type: 'string', default: String(mostFiles) }, again: { type: 'boolean', default: false } }
  })
  const names = positionals.length === 0 ? daily : positionals.flatMap(name => name === 'everything' ? everything : [name])
  const files = testFiles(names)
  const options = { again: values.again, say: console.log, most: Number(values.jobs) }
  const counts = await runFiles(names.every(name => name in suites) ? await bundled(files) : files, options)
  const { passed, failed, skipped, failedFiles, flakyFiles } = counts
  for (const title of flakyFiles) console.log(`flaky: ${title} passed only when it was run again; ${knownFlaky(title)}`)
  if (failedFiles.length > 0) console.log(`failed: ${failedFiles.join(', ')}`)
  const others = Object.entries({ skipped, flaky: flakyFiles.length }).filter(([, count]) => count > 0).map(([what, count]) => `, ${count} ${what}`)
  console.log(`${passed} passed, ${failed} failed${others.join('')}`)
  return failed === 0 ? 0 : 1
}

/** @param {import('../test/build/runner/files.js').TestFile[]} files */
async function bundled (files) {
  const { bundleTests } = await import('../test/build/runner/bundle.js')
  return await bundleTests(files)
}

/** @param {string} title */
function knownFlaky (title) {
  const source = `${title.replace(/^.*: test\//, '')}.test.ts`
  return readFileSync('test/flaky.md', 'utf8').includes(`| ${source} |`) ? 'test/flaky.md says that this is mended, so it is not' : 'find the cause, mend it, and add both to test/flaky.md'
}
