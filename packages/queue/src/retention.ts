const daySec = 24 * 60 * 60

/** How long finished jobs are kept, and how many of them per queue. An output outlives its job by an hour at most. */
export const retention = {
  jobs: { age: daySec, count: 10_000, limit: 100 },
  outputSec: daySec + 60 * 60
} as const
