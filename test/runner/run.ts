import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { TestFile } from './files.ts'
import { reportOf, type FileReport } from './report.ts'
import { places } from './suites.ts'

/** A file that a test of its own can't end any more is killed after so long, in milliseconds. */
const lastResortMs = 1_200_000
const warningsFail = new URL('./fail-on-warning.js', import.meta.url).href

export interface RunOptions {
  /** Whether a file that failed is run once more by itself: on machines of CI, which are shared. */
  again: boolean
  say: (line: string) => void
}

/** Assertions; the titles of files that failed, and of those that passed only when they were run again. */
export interface RunCounts {
  passed: number
  failed: number
  skipped: number
  failedFiles: string[]
  flakyFiles: string[]
}

/**
 * Runs files of tests, each as a process of its own, and counts their assertions. Files start in the given order, as soon as
 * there are places. What a file that fails has printed is shown as it is.
 *
 * (`tap run` would load its hooks into every Node.js process that a test starts: the services under test then take
 * twice as long, and are not what users run. tap's `t.spawn` does the same.)
 */
export async function runFiles (files: readonly TestFile[], { again, say }: RunOptions): Promise<RunCounts> {
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
  await inPlaces(files, async file => {
    const report = await run(file)
    if (report.ok || !again) count(file, report)
    else failed.add(file)
  })
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

/** Runs each file when the places that it takes are free, and no file overtakes another. */
async function inPlaces (files: readonly TestFile[], run: (file: TestFile) => Promise<void>): Promise<void> {
  const underWay = new Map<Promise<void>, number>()
  const free = (): number => [...underWay.values()].reduce((left, taken) => left - taken, places)
  for (const file of files) {
    while (underWay.size > 0 && free() < file.places) await Promise.race(underWay.keys())
    const ended = run(file).finally(() => { underWay.delete(ended) })
    underWay.set(ended, file.places)
  }
  await Promise.all(underWay.keys())
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
