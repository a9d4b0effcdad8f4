import { isQuiet } from './meter.ts'
import type { RowInfo } from './row.ts'

export interface Round {
  yardstick?: number
  subject: number
}

/** The middle of some numbers, and what half of them lie between. */
export interface Middle {
  median: number
  low: number
  high: number
}

export type Verdict = 'reached' | 'missed' | 'no target' | 'busy' | 'not judged' | 'unable' | 'failed'

/** A row that was measured, or wasn't. */
export interface RowResult extends RowInfo {
  name: string
  stage: string
  verdict: Verdict
  reason?: string
  rounds: Round[]
  subjectMiddle?: Middle
  yardstickMiddle?: Middle
  ratio?: Middle
  /** Processors that other programs took meanwhile; absent where that can't be told. */
  others?: number
}

/** Sums up the rounds of a row. */
export function resultOf (
  names: Pick<RowResult, 'name' | 'stage'>, info: RowInfo, rounds: Round[],
  { others, isQuick }: { others: number | undefined, isQuick: boolean }
): RowResult {
  const pairs = rounds.filter((round): round is Required<Round> => round.yardstick !== undefined)
  const measured = {
    rounds,
    subjectMiddle: middleOf(rounds.map(({ subject }) => subject)),
    ...(pairs.length === 0
      ? {}
      : {
          yardstickMiddle: middleOf(pairs.map(pair => pair.yardstick)),
          ratio: middleOf(pairs.map(pair => pair.subject / pair.yardstick))
        }),
    ...(others === undefined ? {} : { others })
  }
  return { ...names, ...info, ...measured, verdict: isQuick ? 'not judged' : verdictOf(info, measured) }
}

export function middleOf (numbers: readonly number[]): Middle {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number): number => {
    const place = (sorted.length - 1) * share
    const [below = NaN, above = NaN] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
    return below + (above - below) * (place - Math.floor(place))
  }
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

/** Sizes are the same on a busy machine. */
const sizes: ReadonlyArray<RowInfo['unit']> = ['MB', 'KB', 'bytes', 'number']

function verdictOf (
  { target, unit }: RowInfo, { subjectMiddle, ratio, others }: Pick<RowResult, 'subjectMiddle' | 'ratio' | 'others'>
): Verdict {
  if (others !== undefined && !isQuiet(others) && !sizes.includes(unit)) return 'busy'
  const number = (target?.of === 'ratio' ? ratio : subjectMiddle)?.median
  if (target === undefined || number === undefined) return 'no target'
  return (target.bound === 'at most' ? number <= target.number : number >= target.number) ? 'reached' : 'missed'
}
