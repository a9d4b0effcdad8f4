/**
 * `npm test`: installs and builds what is missing, sees to a Redis server for the tests to start, and runs them.
 * Tests may be named by source or directory: `npm test -- test/cli/help.test.ts`. `--jobs=N` files run at a time, and a
 * test has `--timeout=SECONDS`. The last line is `N passed, N failed`, in assertions.
 */
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { build, checkNode, installDependencies, root } from './checkout.mjs'

checkNode()
process.chdir(root)
installDependencies()
// A test whose source is gone must not run again.
rmSync('test/build', { recursive: true, force: true })
build()
await provideRedis()
await provideSandbox()
process.exitCode = await runTests()

async function provideRedis () {
  const { ensureRedisServer } = await import('@toolyard/queue/server')
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
    options: { jobs: { type: 'string', default: '4' }, timeout: { type: 'string', default: '240' }, retries: { type: 'string', default: '0' } }
  })
  const counts = await runFiles(testFiles(positionals), { jobs: Number(values.jobs), timeoutSec: Number(values.timeout), retries: Number(values.retries), say: console.log })
  const { failedFiles, flakyFiles } = counts
  if (flakyFiles.length > 0) console.log(`passed only by itself: ${flakyFiles.join(', ')}`)
  if (failedFiles.length > 0) console.log(`failed: ${failedFiles.join(', ')}`)
  const others = [[counts.skipped, 'skipped'], [flakyFiles.length, flakyFiles.length === 1 ? 'flaky file' : 'flaky files']].filter(([count]) => count !== 0)
  console.log([`${counts.passed} passed`, `${counts.failed} failed`, ...others.map(([count, what]) => `${count} ${what}`)].join(', '))
  return counts.failed === 0 ? 0 : 1
}
