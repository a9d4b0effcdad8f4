import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { reportOf, type FileReport } from './report.ts'

/** A file that a test of its own can't end any more is killed after so long, in milliseconds. */
const lastResortMs = 1_200_000

export interface RunOptions {
  /** Files at a time. */
  jobs: number
  /** For a test that sets no other time, in seconds. */
  timeoutSec: number
  /** How often a file that failed beside others is run again by itself; what passes then is said to be flaky. */
  retries: number
  say: (line: string) => void
}

/** Assertions; the files that failed, and those that passed only when they were run again. */
export type RunCounts = Pick<FileReport, 'passed' | 'failed' | 'skipped'> & { failedFiles: string[], flakyFiles: string[] }

/**
 * Runs files of tests, each as a process of its own, and counts their assertions.
 *
 * (`tap run` would load its hooks into every Node.js process that a test starts: the services under test then take
 * twice as long, and are not what users run.)
 */
export async function runFiles (files: readonly string[], { jobs, timeoutSec, retries, say }: RunOptions): Promise<RunCounts> {
  const counts: RunCounts = { passed: 0, failed: 0, skipped: 0, failedFiles: [], flakyFiles: [] }
  const run = async (file: string): Promise<FileReport> => {
    const startedAt = performance.now()
    const report = await runFile(file, timeoutSec)
    say(`${report.ok ? 'ok    ' : 'FAILED'} ${file} # ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
    for (const line of report.lines) say(`    ${line}`)
    return report
  }

  const failures = new Map<string, FileReport>()
  const count = (report: FileReport): void => {
    counts.passed += report.passed
    counts.failed += report.failed
    counts.skipped += report.skipped
  }
  const waiting = [...files]
  const lane = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const report = await run(file)
      if (report.ok) count(report)
      else failures.set(file, report)
    }
  }
  await Promise.all(Array.from({ length: jobs }, lane))
  for (const file of files) {
    let report = failures.get(file)
    if (report === undefined) continue
    for (let attempt = 1; attempt <= retries && !report.ok; attempt++) {
      say(`again  ${file} # by itself, ${attempt} of ${retries}`)
      report = await run(file)
    }
    const files = report.ok ? counts.flakyFiles : counts.failedFiles
    files.push(file)
    count(report)
  }
  return counts
}

async function runFile (file: string, timeoutSec: number): Promise<FileReport> {
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(timeoutSec) },
    timeout: lastResortMs,
    killSignal: 'SIGKILL'
  })
  const ended = once(child, 'close')
  const tap = await text(child.stdout)
  const [status, signal] = await ended as [number | null, string | null]
  return reportOf(tap, status === 0 ? undefined : `It ended with ${signal ?? `exit status ${status}`}.`)
}
