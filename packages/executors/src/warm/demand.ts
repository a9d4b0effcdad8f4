const minuteMs = 60_000
const minutes = 5
/** So that one burst of calls doesn't fill the memory of a worker. */
const most = 8

/** How many calls of a tool run at once. */
export interface Demand {
  began (now: number): void
  ended (): void
  /** The most calls that ran at once in the last five minutes; 0 when there was none, 8 at most. */
  peak (now: number): number
}

/** Counts the calls of one tool; times are in milliseconds. */
export function createDemand (): Demand {
  const peaks = new Map<number, number>()
  let running = 0
  return {
    began (now) {
      running += 1
      const minute = Math.floor(now / minuteMs)
      peaks.set(minute, Math.max(peaks.get(minute) ?? 0, running))
      for (const old of peaks.keys()) if (old <= minute - minutes) peaks.delete(old)
    },
    ended () { running -= 1 },
    peak (now) {
      const minute = Math.floor(now / minuteMs)
      const recent = [...peaks].filter(([at]) => at > minute - minutes).map(([, peak]) => peak)
      return Math.min(most, Math.max(0, running, ...recent))
    }
  }
}
