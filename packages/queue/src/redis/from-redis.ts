/**
 * What Redis stores and answers, as its writers know it: replies of scripts, and records of jobs, ours and BullMQ's.
 * Each reader stands beside the script, or knows the writer; as with `storedJson`, `protocol` says which releases may
 * work side by side.
 */
export function fromRedis<Known> (answer: unknown): Known {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- See above.
  return answer as Known
}
