import { decodeApproval } from './approval.ts'
import { decodeAsked } from './question.ts'
import { readOptions } from './new-job.ts'

/** A time in which a job waited for a person, in milliseconds since 1970 by Redis' clock. */
export interface PersonWait {
  from: number
  /** Absent: it still waits, until `ends` at the latest. */
  to?: number
  ends: number
}

/** Milliseconds in which a worker will have looked at any job. */
const yearMs = 31_536_000_000

export function personWaitsOf ([timestamp, options, finishedOn, approval, asked]: ReadonlyArray<string | null | undefined>): PersonWait[] {
  const finished = typeof finishedOn === 'string' ? Number(finishedOn) : undefined
  const own = readOptions(options)
  const record = decodeApproval(approval)
  const question = decodeAsked(asked)
  const waits: PersonWait[] = (question?.waits ?? []).map(([from, to]) => ({ from, to, ends: to }))
  if (question?.state === 'asked') waits.push({ from: question.at, ends: question.ends, ...finished !== undefined && { to: finished } })
  // Until a worker has looked at it, only its options say that it is held.
  if (record === undefined && own.hold === 1) {
    const from = Number(timestamp)
    waits.push({ from, ends: from + yearMs, ...finished !== undefined && { to: finished } })
  }
  if (record !== undefined) {
    const to = record.state === 'held' ? finished : record.approvedAt ?? record.decisions?.at(-1)?.at ?? record.expiresAt
    waits.push({ from: record.heldAt, ends: record.expiresAt, ...to !== undefined && { to } })
  }
  return waits
}
