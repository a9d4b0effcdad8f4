import type { Cleanup } from '../../support/cleanup.ts'

/** Its ratio to the yardstick, or its own number. */
export interface Target {
  of: 'ratio' | 'value'
  bound: 'at most' | 'at least'
  number: number
}

/** A row of the table, as it is known before anything runs. */
export interface RowInfo {
  what: string
  /** The same without Toolyard; absent where there is no such thing. */
  yardstick?: string
  unit: 'ms' | 's' | 'calls/s' | 'MB/s' | 'MB' | 'KB' | 'bytes' | 'number'
  target?: Target
}

/** One number of each side. Both are asked in turns, so that a machine that gets slower meets both. */
export interface Measure {
  yardstick?: (round: number) => Promise<number>
  subject: (round: number) => Promise<number>
  /** Where each round is long; else `usualRounds`. */
  rounds?: number
}

/** Why a row can't be measured on this machine. */
export interface Unable {
  unable: string
}

export interface Setting {
  cleanup: Cleanup
  /** The run only shows that the rows work. */
  isQuick: boolean
  size: (whole: number, quick: number) => number
}

/** Rows that share the processes which they measure. */
export interface Stage {
  title: string
  /** Takes long: runs only where it is asked for. */
  isHeavy?: true
  rows: Record<string, RowInfo>
  /** Starts what is measured, and warms it up. */
  open: (setting: Setting) => Promise<Record<string, Measure | Unable>>
}

/** Fewer say little about the spread. */
export const usualRounds = 7

/** At most so many times the yardstick. */
export function ratioAtMost (number: number): Target {
  return { of: 'ratio', bound: 'at most', number }
}

/** At least so many times the yardstick. */
export function ratioAtLeast (number: number): Target {
  return { of: 'ratio', bound: 'at least', number }
}

/** At most so many of the row's unit. */
export function valueAtMost (number: number): Target {
  return { of: 'value', bound: 'at most', number }
}
