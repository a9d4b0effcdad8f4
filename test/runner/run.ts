import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { reportOf, type FileReport } from './report.ts'

/** A file that a test of its own can't end any more is killed after so long, in milliseconds. */
const lastResortMs = 1_200_000
const warningsFail = new URL('./fail-on-warning.js', import.meta.url).href

export interface RunOptions {
  /** Files at a time. */
  jobs: number
  /** For a test that sets no other time, in seconds. */
  timeoutSec: number
  /** Whether a file that failed is run once more by itself: on machines of CI, which are shared. */
  again: boolean
  say: (line: string) => void
}

/** Assertions; the files that failed, and those that passed only when they were run again. */
export interface RunCounts {
  passed: number
  failed: number
  skipped: number
  failedFiles: string[]
  flakyFiles: string[]
}

/**
 * Runs files of tests, each as a process of its own, and counts their assertions. What a file that fails has printed is
 * shown as it is.
 *
 * (`tap run` would load its hooks into every Node.js process that a test starts: the services under test then take
 * twice as long, and are not what users run. tap's `t.spawn` does the same.)
 */
export async function runFiles (files: readonly string[], { jobs, timeoutSec, again, say }: RunOptions): Promise<RunCounts> {
  const counts: RunCounts = { passed: 0, failed: 0, skipped: 0, failedFiles: [], flakyFiles: [] }
  const run = async (file: string): Promise<FileReport> => {
    const startedAt = performance.now()
    const { tap, exited } = await outputOf(file, timeoutSec)
    const report = reportOf(tap, exited)
    say(`${report.ok ? 'ok    ' : 'FAILED'} ${file} # ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
    for (const skipped of report.skipped) say(`    skipped ${skipped}`)
    if (!report.ok) say(tap)
    return report
  }
  const count = (file: string, report: FileReport): void => {
    counts.passed += report.passed
    counts.failed += report.failed
    counts.skipped += report.skipped.length
    if (!report.ok) counts.failedFiles.push(file)
  }

  const failures = new Map<string, FileReport>()
  const waiting = [...files]
  const lane = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const report = await run(file)
      if (report.ok) count(file, report)
      else failures.set(file, report)
    }
  }
  await Promise.all(Array.from({ length: jobs }, lane))
  for (const file of files) {
    const first = failures.get(file)
    if (first === undefined) continue
    const report = again ? await run(file) : first
    count(file, report)
    if (report.ok) counts.flakyFiles.push(file)
  }
  return counts
}

async function outputOf (file: string, timeoutSec: number): Promise<{ tap: string, exited: boolean }> {
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', warningsFail, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(timeoutSec) },
    timeout: lastResortMs,
    killSignal: 'SIGKILL'
  })
  const ended = once(child, 'close')
  const tap = await text(child.stdout)
  const [status, signal] = await ended as [number | null, string | null]
  return status === 0 ? { tap, exited: true } : { tap: `${tap}It ended with ${signal ?? `exit status ${status}`}.`, exited: false }
}
