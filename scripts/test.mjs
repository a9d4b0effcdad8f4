/**
 * `npm test`: installs and builds what is missing, sees to a Redis server for the tests to start, and runs them.
 * Arguments go to tap; a test may be named by its source: `npm test -- test/cli/help.test.ts`.
 * The last line is `N passed, N failed`, from tap's own count of assertions.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary, build, checkNode, installDependencies, root } from './checkout.mjs'
import { readCounts } from './test-counts.mjs'
import { builtPath } from './test-paths.mjs'

checkNode()
process.chdir(root)
installDependencies()
// A test whose source is gone must not run again.
rmSync('test/build', { recursive: true, force: true })
build()
await provideRedis()
process.exitCode = runTests(process.argv.slice(2).map(builtPath))

async function provideRedis () {
  const { ensureRedisServer } = await import('@toolyard/queue/server')
  try {
    await ensureRedisServer({ env: process.env, say: console.log })
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}

/**
 * @param {string[]} args
 * @returns {number} the exit status
 */
function runTests (args) {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-tap-'))
  try {
    const output = join(directory, 'results.tap')
    // Without a terminal, tap would print every assertion; the failures are enough.
    const reporter = process.stdout.isTTY ? [] : ['--reporter=min']
    const { status } = spawnSync(process.execPath, [binary('tap'), 'run', ...reporter, `--output-file=${output}`, ...args], { stdio: ['ignore', 'inherit', 'inherit'] })
    const counts = readCounts(readText(output))
    // A run that fails without a failed assertion (one that broke off, say) must not look like a good one.
    if (status !== 0 && counts.failed === 0) {
      console.error(`tap ended with status ${status ?? 'unknown'}, without a failed assertion.`)
      counts.failed = 1
    }
    console.log(`${counts.passed} passed, ${counts.failed} failed${counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`}`)
    return counts.failed === 0 ? 0 : 1
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** @param {string} file */
function readText (file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
