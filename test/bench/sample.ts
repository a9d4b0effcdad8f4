/** Times in milliseconds, sorted. */
export interface Sample {
  p50: number
  p99: number
}

/** Runs an operation so many times, one after the other, after a warm-up. */
export async function latency (runs: number, operation: () => Promise<unknown>): Promise<Sample> {
  for (let run = 0; run < Math.ceil(runs / 5); run++) await operation()
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now()
    await operation()
    times.push(performance.now() - startedAt)
  }
  return quantiles(times)
}

/** Runs an operation so many times with some in flight; how many of its units were done per second. */
export async function throughput (runs: number, inFlight: number, unitsPerRun: number, operation: () => Promise<unknown>): Promise<number> {
  await Promise.all(Array.from({ length: inFlight }, operation))
  let left = runs
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: inFlight }, async () => { while (left-- > 0) await operation() }))
  return runs * unitsPerRun / ((performance.now() - startedAt) / 1_000)
}

/** The 95th percentile. */
export function percentile95 (times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? NaN
}

/** The median and the 99th percentile. */
export function quantiles (times: number[]): Sample {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  return { p50: at(0.5), p99: at(0.99) }
}
