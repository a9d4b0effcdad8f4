import { existsSync, mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import { benchCommit } from './frame/earlier-commit.ts'
import { isQuiet, startMeter } from './frame/meter.ts'
import { readOptions, type BenchOptions } from './frame/options.ts'
import { comparisonOf, readReport, writeReport, type Report } from './frame/report-file.ts'
import type { RowResult } from './frame/result.ts'
import { runStage } from './frame/run-stage.ts'
import { tableOf } from './frame/table.ts'
import { benchFleetCost } from './api-fleet.ts'
import { benchFleet } from './fleet.ts'
import { print } from './report.ts'
import { stages } from './stages.ts'

/** Of the process: some rows failed, missed their targets, or couldn't be judged. */
const exitCodes = { failed: 1, missed: 2, busy: 3 } as const

async function run (argv: readonly string[]): Promise<void> {
  // A report of its own: it has no yardstick to take turns with.
  if (argv[0] === 'fleet') {
    await runFleet(argv.includes('--quick'))
    return
  }
  const options = readOptions(argv, stages)
  const before = await earlierReport(options)
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1_000
  const results: RowResult[] = []
  mkdirSync(dirname(options.json), { recursive: true })
  if (!options.isQuick) await tellWhetherQuiet()
  for (const [name, stage] of Object.entries(stages)) {
    if (!Object.keys(stage.rows).some(row => options.rows.has(row))) continue
    const begun = seconds()
    const measured = await runStage(name, stage, options)
    results.push(...measured)
    console.log(`\n${stage.title} (${(seconds() - begun).toFixed(0)} s)\n\n${tableOf(measured)}`)
    // After each stage: a run that is stopped leaves what it has measured.
    writeReport(options.json, results, seconds())
  }
  if (before !== undefined) console.log(`\n${comparisonOf(before, results)}`)
  console.log(`\n${results.length} rows in ${seconds().toFixed(0)} s; all rounds are in ${options.json}`)
  for (const verdict of ['failed', 'busy', 'missed'] as const) {
    const rows = results.filter(result => result.verdict === verdict).map(({ name }) => name)
    if (rows.length === 0) continue
    console.log(`${told[verdict]}: ${rows.join(', ')}`)
    process.exitCode ??= exitCodes[verdict]
  }
}

/** That of a file, or that of a commit, which is made now. */
async function earlierReport ({ compare, rows, isQuick }: BenchOptions): Promise<Report | undefined> {
  if (compare === undefined) return undefined
  if (existsSync(compare)) return readReport(compare)
  return await benchCommit({ name: compare, rows, isQuick, root: process.cwd(), say: console.log })
}

const told = {
  failed: 'Failed',
  busy: 'Not judged, since other programs took processor time meanwhile; run these again on a quiet machine',
  missed: 'Targets that were missed'
}

async function runFleet (isQuick: boolean): Promise<void> {
  const steps: Array<() => unknown> = []
  try {
    await benchFleet({ teardown: step => steps.unshift(step) }, isQuick)
    if (isQuick) return
    print('What a job costs Redis as API processes are added', await benchFleetCost({ teardown: step => steps.unshift(step) }))
  } finally {
    for (const step of steps) await step()
  }
}

async function tellWhetherQuiet (): Promise<void> {
  const meter = startMeter()
  await sleep(1_000)
  const others = meter.others()
  if (others === undefined) console.log('This system does not tell how busy the machine is: rows are judged all the same.')
  else console.log(`Other programs take ${others.toFixed(2)} of ${cpus().length} processors${isQuiet(others) ? '.' : ': the machine is busy, and rows that this meets are not judged.'}`)
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  console.error(asError(error).message)
  process.exitCode = 1
}
