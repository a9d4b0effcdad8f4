/**
 * `npm test`: installs and builds what is missing, sees to a Redis server for the tests to start, and runs them.
 * Arguments go to tap; a test may be named by its source: `npm test -- test/cli/help.test.ts`.
 * The last line is `N passed, N failed`, from tap's own count of assertions.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { binary, build, checkNode, installDependencies, root } from './checkout.mjs'
import { TestReport } from './test-report.mjs'
import { builtPath } from './test-paths.mjs'

checkNode()
process.chdir(root)
installDependencies()
// A test whose source is gone must not run again.
rmSync('test/build', { recursive: true, force: true })
build()
await provideRedis()
await provideSandbox()
process.exitCode = await runTests(process.argv.slice(2).map(builtPath))

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

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit status
 */
async function runTests (args) {
  const report = new TestReport()
  const tap = spawn(process.execPath, [binary('tap'), 'run', '--reporter=tap', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(tap, 'close')
  for await (const line of createInterface({ input: tap.stdout })) {
    const shown = report.read(line)
    if (shown !== undefined) console.log(shown)
  }
  const [status] = await ended
  const { passed, skipped } = report.counts
  // A run that fails without a failed assertion (one that broke off, say) must not look like a good one.
  const failed = report.counts.failed === 0 && status !== 0 ? 1 : report.counts.failed
  console.log(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
  return failed === 0 ? 0 : 1
}
