/**
 * `npm test`: installs and builds what is missing, sees to a Redis server for the tests to start, and runs them. Without
 * names these are the tests of every day, put into few files.
 * Tests may be named by source, directory or kind: `npm test -- test/cli/help.test.ts`. `--jobs=N` files run at a time, a
 * test has `--timeout=SECONDS`, and with `--again` a file that failed is run once more by itself. The last line is
 * `N passed, N failed`, in assertions.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, checkNode, installDependencies, root } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
build()
removeStale()
await provideRedis()
await provideSandbox()
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

/** @returns {Promise<number>} the exit status */
async function runTests () {
  const { testFiles } = await import('../test/build/runner/files.js')
  const { runFiles } = await import('../test/build/runner/run.js')
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { jobs: { type: 'string' }, timeout: { type: 'string', default: '240' }, again: { type: 'boolean', default: false } }
  })
  const isDaily = positionals.length === 0
  const files = testFiles(positionals)
  const { passed, failed, skipped, failedFiles, flakyFiles } = await runFiles(isDaily ? await bundled(files) : files, {
    jobs: Number(values.jobs ?? (isDaily ? 7 : 5)), timeoutSec: Number(values.timeout), again: values.again, say: console.log
  })
  for (const file of flakyFiles) console.log(`flaky: ${file} passed only when it was run again; ${knownFlaky(file)}`)
  if (failedFiles.length > 0) console.log(`failed: ${failedFiles.join(', ')}`)
  const others = Object.entries({ skipped, flaky: flakyFiles.length }).filter(([, count]) => count > 0).map(([what, count]) => `, ${count} ${what}`)
  console.log(`${passed} passed, ${failed} failed${others.join('')}`)
  return failed === 0 ? 0 : 1
}

/** @param {string[]} files */
async function bundled (files) {
  const { bundleTests } = await import('../test/build/runner/bundle.js')
  return await bundleTests(files)
}

/** @param {string} file as it was built */
function knownFlaky (file) {
  const source = file.replace(/^test\/(?:build|bundle)\//, '').replace(/js$/, 'ts')
  return readFileSync('test/flaky.md', 'utf8').includes(`| ${source} |`) ? 'test/flaky.md says that this is mended, so it is not' : 'find the cause, mend it, and add both to test/flaky.md'
}
