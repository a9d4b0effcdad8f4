import { orElse } from '@toolyard/contract/terms'
import { readFileSync } from 'node:fs'

export interface Turn {
  /**
   * By the processor time of the main thread or by the clock, whichever is less, in milliseconds: who waits for a processor
   * blocks nothing, and neither do threads.
   */
  ms: number
  /** Pages of memory that the process used for the first time. */
  pages: number
}

/** Measures turns that follow on each other: each call ends one and begins the next. */
export function turnMeter (): () => Turn {
  let begun = reading()
  return () => {
    const now = reading()
    const turn = { ms: Math.min(now.processorMs - begun.processorMs, now.clockMs - begun.clockMs), pages: now.pages - begun.pages }
    begun = reading()
    return turn
  }
}

function reading (): { processorMs: number, clockMs: number, pages: number } {
  const { userCPUTime, systemCPUTime, minorPageFault } = process.resourceUsage()
  return { processorMs: mainThreadMs() ?? (userCPUTime + systemCPUTime) / 1_000, clockMs: performance.now(), pages: minorPageFault }
}

/** Only Linux tells it of a thread: `process.threadCpuUsage` is younger than Node 20. */
function mainThreadMs (): number | undefined {
  return orElse(() => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6, undefined)
}

/**
 * Calls a meter again in a later turn, after 1 ms at the earliest. Turns that are shorter than that are taken together; a
 * meter in each of them would keep a processor busy, and with it every other test.
 */
export function nextTurn (measure: () => void): NodeJS.Timeout {
  return setTimeout(measure, 1)
}

export function longer (one: Turn, other: Turn): Turn {
  return other.ms > one.ms ? other : one
}

export const noTurn: Turn = { ms: 0, pages: 0 }
