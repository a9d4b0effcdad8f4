import type { Measure } from './row.ts'
import { p50, throughput } from '../sample.ts'

export interface Sides {
  bare: () => Promise<unknown>
  ours: () => Promise<unknown>
}

/** The median of so many runs, one at a time. */
export function timeOf (runs: number, { bare, ours }: Sides): Measure {
  return { yardstick: async () => await p50(runs, bare), subject: async () => await p50(runs, ours) }
}

/** How many units are done per second. */
export function rateOf ({ runs, inFlight, units }: { runs: number, inFlight: number, units: number }, { bare, ours }: Sides): Measure {
  return {
    yardstick: async () => await throughput(runs, inFlight, units, bare),
    subject: async () => await throughput(runs, inFlight, units, ours)
  }
}
