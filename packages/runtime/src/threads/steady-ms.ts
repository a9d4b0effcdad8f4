/** Milliseconds by a clock that nobody sets and that all threads share: `performance.now()` begins anew in each. */
export function steadyMs (): number {
  return Number(process.hrtime.bigint()) / 1e6
}
