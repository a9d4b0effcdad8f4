/**
 * Values that Redis stores and answers, as their writers know them: replies of scripts, and records of jobs, ours and BullMQ's.
 * Each reader is beside the script, or knows the writer; as with `storedJson`, `protocol` says which releases may
 * work side by side.
 */
export function fromRedis<Reply> (answer: unknown): Reply {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- See above.
  return answer as Reply
}
