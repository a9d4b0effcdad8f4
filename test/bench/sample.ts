import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds that each of some runs of an operation takes, one after the other. */
export async function timesOf (runs: number, operation: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now()
    await operation()
    times.push(performance.now() - startedAt)
  }
  return times
}

/** The median of the milliseconds that an operation takes. */
export async function p50 (runs: number, operation: () => Promise<unknown>): Promise<number> {
  return quantile(await timesOf(runs, operation), 0.5)
}

export function quantile (numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

/** Runs an operation so many times with some in flight; how many of its units were done per second. */
export async function throughput (runs: number, inFlight: number, unitsPerRun: number, operation: () => Promise<unknown>): Promise<number> {
  await Promise.all(Array.from({ length: inFlight }, operation))
  let left = runs
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: inFlight }, async () => { while (left-- > 0) await operation() }))
  return runs * unitsPerRun / ((performance.now() - startedAt) / 1_000)
}

/** Between calls of an agent, which thinks meanwhile. */
export const pauseMs = 60

/** The median of so many runs, each after a pause. */
export async function pausedP50 (runs: number, operation: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    await sleep(pauseMs)
    times.push(await p50(1, operation))
  }
  return quantile(times, 0.5)
}
