/** A turn of the event loop. */
export interface Turn {
  /**
   * By the processor time of its process or by the clock, whichever is less, in milliseconds: who waits for a processor blocks
   * nothing, and neither do threads.
   */
  ms: number
  /** Pages of memory that the process used for the first time. */
  pages: number
}

/** Measures turns that follow on each other: each call ends one and begins the next. */
export function turnMeter (): () => Turn {
  let used = process.resourceUsage()
  let clock = performance.now()
  return () => {
    const [now, at] = [process.resourceUsage(), performance.now()]
    const processorMs = (now.userCPUTime - used.userCPUTime + now.systemCPUTime - used.systemCPUTime) / 1_000
    const turn = { ms: Math.min(processorMs, at - clock), pages: now.minorPageFault - used.minorPageFault }
    used = process.resourceUsage()
    clock = performance.now()
    return turn
  }
}

/**
 * Calls a meter again in a later turn, after 1 ms at the earliest. Turns that are shorter than that are taken together; a
 * meter in each of them would keep a processor busy, and with it every other test.
 */
export function nextTurn (measure: () => void): NodeJS.Timeout {
  return setTimeout(measure, 1)
}

/** Keeps the longest turn. */
export function longer (one: Turn, other: Turn): Turn {
  return other.ms > one.ms ? other : one
}

export const noTurn: Turn = { ms: 0, pages: 0 }
