import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { asError } from '@toolyard/contract/terms'
import type { RowResult } from './result.ts'
import { align, shown } from './table.ts'

/** Grows when a later reader could take the file for something else. */
const version = 1

/** For later runs. */
export interface Report {
  version: typeof version
  at: string
  commit: string
  machine: { processors: number, model: string, memoryMb: number, kernel: string, node: string }
  seconds: number
  results: RowResult[]
}

/** Writes what was measured so far. */
export function writeReport (file: string, results: RowResult[], seconds: number): void {
  const report: Report = {
    version,
    at: new Date().toISOString(),
    commit: commitHere(),
    machine: { processors: cpus().length, model: cpus()[0]?.model ?? '', memoryMb: Math.round(totalmem() / 2 ** 20), kernel: release(), node: process.version },
    seconds: Math.round(seconds),
    results
  }
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
}

/** @throws Error that names the file, where it is no report of this version. */
export function readReport (file: string): Report {
  let found: Partial<Report>
  try {
    found = JSON.parse(readFileSync(file, 'utf8')) as Partial<Report>
  } catch (error) {
    throw new Error(`--compare ${file}: ${asError(error).message}; name the JSON file of an earlier run`)
  }
  if (found.version !== version || !Array.isArray(found.results)) throw new Error(`--compare ${file}: this is no report of version ${version}; make one with npm run bench -- --json ${file}`)
  return found as Report
}

/**
 * Rows of both runs beside each other: their ratios where there is a yardstick, since these hold better from one run to
 * another, else their numbers. A change counts where what half of the rounds lie between doesn't touch.
 */
export function comparisonOf (before: Report, results: readonly RowResult[]): string {
  const lines = results.flatMap(now => {
    const then = before.results.find(({ name }) => name === now.name)
    const hasRatios = then?.ratio !== undefined && now.ratio !== undefined
    const [old, fresh] = hasRatios ? [then.ratio, now.ratio] : [then?.subjectMiddle, now.subjectMiddle]
    if (old === undefined || fresh === undefined) return []
    const isApart = old.high < fresh.low || fresh.high < old.low
    return [[
      `\`${now.name}\``, hasRatios ? 'ratio' : now.unit, shown(old.median), shown(fresh.median),
      `${((fresh.median / old.median - 1) * 100).toFixed(0)} %`, isApart ? 'yes' : 'within the spread'
    ]]
  })
  return `Beside ${before.commit} of ${before.at}\n\n${align([['row', 'of', 'before', 'now', 'change', 'counts'], ...lines])}`
}

function commitHere (): string {
  try {
    const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' with changes'}`
  } catch {
    return 'unknown'
  }
}
