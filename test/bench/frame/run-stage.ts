import { asError } from '@toolyard/contract/terms'
import { startMeter } from './meter.ts'
import { resultOf, type Round, type RowResult } from './result.ts'
import { usualRounds, type Measure, type RowInfo, type Setting, type Stage } from './row.ts'

/**
 * Runs rows of one stage, one after the other, and stops what the stage has started. A row that fails leaves the others;
 * where the stage itself doesn't start, all of them have failed.
 */
export async function runStage (
  name: string, stage: Stage, { rows, isQuick }: { rows: ReadonlySet<string>, isQuick: boolean }
): Promise<RowResult[]> {
  const steps: Array<() => unknown> = []
  const setting: Setting = {
    cleanup: { teardown: step => steps.unshift(step) },
    isQuick,
    size: (whole, quick) => isQuick ? quick : whole
  }
  const infos = Object.entries(stage.rows).filter(([row]) => rows.has(row))
  const fail = (row: string, info: RowInfo, error: unknown): RowResult => (
    { name: row, stage: name, ...info, verdict: 'failed', reason: asError(error).message, rounds: [] }
  )
  const results: RowResult[] = []
  try {
    const measures = await stage.open(setting)
    for (const [row, info] of infos) {
      const measure = measures[row]
      if (measure === undefined) throw new Error(`the stage ${name} has no measure for its row ${row}`)
      results.push('unable' in measure
        ? { name: row, stage: name, ...info, verdict: 'unable', reason: measure.unable, rounds: [] }
        : await runRow({ name: row, stage: name }, info, measure, isQuick).catch((error: unknown) => fail(row, info, error)))
    }
  } catch (error) {
    results.push(...infos.slice(results.length).map(([row, info]) => fail(row, info, error)))
  } finally {
    for (const step of steps) await step()
  }
  return results
}

async function runRow (names: Pick<RowResult, 'name' | 'stage'>, info: RowInfo, measure: Measure, isQuick: boolean): Promise<RowResult> {
  const count = isQuick ? 1 : measure.rounds ?? usualRounds
  const rounds: Round[] = []
  const meter = startMeter()
  for (let round = 0; round < count; round++) {
    const yardstick = await measure.yardstick?.(round)
    rounds.push({ ...(yardstick === undefined ? {} : { yardstick }), subject: await measure.subject(round) })
  }
  return resultOf(names, info, rounds, { others: meter.others(), isQuick })
}
