import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestFile } from './files.ts'
import { lookMs, startIdleMeter } from './idle-meter.ts'
import { reportOf, type FileReport } from './report.ts'
import { places } from './suites.ts'

/** A file that a test of its own can't end any more is killed after so long, in milliseconds. */
const lastResortMs = 1_200_000
/** The share of the processors' time from which on they have room for one file more than there are places. */
const idleShare = 0.25
const warningsFail = new URL('./fail-on-warning.js', import.meta.url).href

export interface RunOptions {
  /** Whether a file that failed is run once more by itself: on machines of CI, which are shared. */
  again: boolean
  say: (line: string) => void
  /** How many files run at a time at most. */
  most: number
  /** Gives meters of the share of the processors' time that nobody took. */
  startMeter?: () => () => number
}

/** Assertions; the titles of files that failed, and of those that passed only when they were run again. */
interface RunCounts {
  passed: number
  failed: number
  skipped: number
  failedFiles: string[]
  flakyFiles: string[]
}

/**
 * Runs files of tests, each as a process of its own, and counts their assertions. Files start in the given order, as soon as
 * there are places; up to `most` run where the processors are idle meanwhile, since many files wait more than they work. What
 * a file that fails has printed is shown as it is.
 *
 * (`tap run` would load its hooks into every Node.js process that a test starts: the services under test then take
 * twice as long, and are not what users run. tap's `t.spawn` does the same.)
 */
export async function runFiles (files: readonly TestFile[], options: RunOptions): Promise<RunCounts> {
  const { again, say, most, startMeter = startIdleMeter } = options
  const counts: RunCounts = { passed: 0, failed: 0, skipped: 0, failedFiles: [], flakyFiles: [] }
  const run = async (file: TestFile): Promise<FileReport> => {
    const startedAt = performance.now()
    const { tap, exited } = await outputOf(file)
    const report = reportOf(tap, exited)
    say(`${report.ok ? 'ok    ' : 'FAILED'} ${file.title} # ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
    for (const skipped of report.skipped) say(`    skipped ${skipped}`)
    if (!report.ok) say(tap)
    return report
  }
  const count = (file: TestFile, report: FileReport): void => {
    counts.passed += report.passed
    counts.failed += report.failed
    counts.skipped += report.skipped.length
    if (!report.ok) counts.failedFiles.push(file.title)
  }

  const failed = new Set<TestFile>()
  const idle = startMeter()
  const underWay = new Map<Promise<void>, TestFile>()
  for (const file of files) {
    while (!hasRoom(file, [...underWay.values()], most, idle)) {
      await Promise.race([...underWay.keys(), sleep(lookMs, undefined, { ref: false })])
    }
    const ended = run(file).then(report => {
      underWay.delete(ended)
      if (report.ok || !again) count(file, report)
      else failed.add(file)
    })
    underWay.set(ended, file)
  }
  await Promise.all(underWay.keys())
  for (const file of files.filter(file => failed.has(file))) {
    const report = await run(file)
    count(file, report)
    if (report.ok) counts.flakyFiles.push(file.title)
  }
  counts.failedFiles.sort((a, b) => orderOf(files, a) - orderOf(files, b))
  return counts
}

function orderOf (files: readonly TestFile[], title: string): number {
  return files.findIndex(file => file.title === title)
}

/** Whether a file can start beside those that are under way. One that takes more than a place isn't measured beside more files. */
function hasRoom (file: TestFile, underWay: readonly TestFile[], most: number, idle: () => number): boolean {
  if (underWay.length === 0) return true
  if (underWay.length >= most) return false
  if (underWay.reduce((taken, { places }) => taken + places, file.places) <= places) return true
  return [...underWay, file].every(({ places }) => places === 1) && idle() >= idleShare
}

async function outputOf ({ path, timeoutSec, env }: TestFile): Promise<{ tap: string, exited: boolean }> {
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', warningsFail, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env, TAP: '1', TAP_TIMEOUT: String(timeoutSec) },
    timeout: lastResortMs,
    killSignal: 'SIGKILL'
  })
  const ended = once(child, 'close')
  const tap = await text(child.stdout)
  const [status, signal] = await ended as [number | null, string | null]
  return status === 0 ? { tap, exited: true } : { tap: `${tap}It ended with ${signal ?? `exit status ${status}`}.`, exited: false }
}
