import type { ApprovalView, CallError, Hold, HoldParts, JobData } from '@toolyard/contract'
import { isRecord, limits, firstChars } from '@toolyard/contract/terms'
import { queueKey, readStored } from '@toolyard/store'
import { createHash } from 'node:crypto'
import { isoTime } from './job-times.ts'
import { carriedData } from './job-arguments.ts'
import type { NewJob } from './new-job.ts'

/*
 * The approval of a job that needs one. Its data says what is asked for (`Hold`); this is kept in a field of its record.
 *
 * States: held -> approved -> (the tool changed before it ran) held again
 *              -> denied, expired: the job ends
 * See docs/decisions/0091-held-calls.md.
 */

/** Those of a queue's jobs that wait for an approval, as `createdKey` has all jobs. */
export function heldKey (queue: string): string {
  return queueKey(queue, 'held')
}

export const approvalField = 'approval'
/** What a list shows of a held call, beside its data, which may be large: see `held-calls.ts`. */
export const shownField = 'shown'

/** A held call as lists have it. */
export interface ShownCall extends Pick<JobData, 'tool' | 'keyName'> {
  version: string | undefined
  tenant: string | undefined
  session: string | undefined
  conversation: string | undefined
  callbackUrl: string | undefined
  hold: Hold
  /** How its arguments begin. */
  preview: string
}

/** Times are milliseconds since 1970, by Redis' clock. */
export interface ApprovalRecord {
  state: ApprovalView['state']
  digest: string
  heldAt: number
  expiresAt: number
  approvedAt?: number
  /** Why it is held again, and the digest of the tool's files then. */
  changed?: string
  program?: string | null
  /** Absent: none. Lua writes an empty list as an object. */
  decisions?: MadeDecision[]
}

/** What would run, which isn't what was approved. */
export type HeldAgain = Required<Pick<ApprovalRecord, 'digest' | 'changed' | 'program'>>

interface MadeDecision extends DecidingKey {
  decision: 'approve' | 'deny'
  reason?: string
  at: number
  /** Its key was revoked, or might not decide any more, before the call was approved: it doesn't count. */
  revoked?: true
}

/** An API key, by its name and what tells keys of that name apart; those of the settings have the name alone. */
export interface DecidingKey {
  key: string
  keyId?: string | undefined
}

type ApprovedData = Pick<JobData, 'tool' | 'arguments' | 'keyName' | 'tenant' | 'session' | 'timeoutSec' | 'tags'>

/** Names what is approved: the tool, its entry and its files, the arguments as they are handed over, and who asks. */
export function approvalDigest (data: ApprovedData, parts: HoldParts): string {
  return digestOf(data, parts, textOf(data))
}

function textOf (data: ApprovedData): string {
  const { arguments: args, argumentsText = JSON.stringify(args) } = carriedData(data)
  return argumentsText
}

function digestOf ({ tool, keyName, tenant, session }: ApprovedData, { entry, program, key }: HoldParts, text: string): string {
  const parts = [tool, entry, program, text, keyName, key, tenant ?? null, session ?? null]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** The same job, which runs once it is approved, and once: who approves a call approves no second attempt. */
export function heldJob (job: NewJob, terms: Omit<Hold, 'digest' | 'parts'>, parts: HoldParts): NewJob {
  // Nobody waits for a person's decision.
  const { replyTo: _, ...data } = job.data
  const text = textOf(data)
  const hold = { ...terms, parts, digest: digestOf(data, parts, text) }
  return { ...job, maxAttempts: 1, preview: previewOf(text), data: { ...data, hold } }
}

/** How arguments begin, without the half of a character. A copy: a part of a text would keep all of it in memory. */
function previewOf (text: string): string {
  return Buffer.from(firstChars(text, limits.previewChars)).toString()
}

/** How a call ends that somebody has denied: an answer for the model, and no fault of the tool. */
export function approvalDenied ({ decisions = [] }: Pick<ApprovalRecord, 'decisions'>): CallError {
  const reason = decisions.findLast(({ decision }) => decision === 'deny')?.reason
  return { code: 'APPROVAL_DENIED', message: reason === undefined ? 'The call was denied by a person' : `The call was denied: ${reason}` }
}

/** How a call ends that nobody has decided about. */
export const approvalExpired: CallError = { code: 'APPROVAL_EXPIRED', message: 'Nobody approved the call in time, so it did not run' }

export function decodeApproval (text: string | null | undefined): ApprovalRecord | undefined {
  return text === null || text === undefined ? undefined : readStored('the record of an approval', text, isApproval)
}

function isApproval (value: unknown): value is ApprovalRecord {
  return isRecord(value) && typeof value['state'] === 'string' && typeof value['digest'] === 'string' && [value['heldAt'], value['expiresAt']].every(Number.isFinite)
}

/** Whether a job waits for an approval, by its options and what its record says of it. */
export function isHeld (options: string | null | undefined, approval: string | null | undefined): boolean {
  return options?.includes('"hold":1') === true && (decodeApproval(approval)?.state ?? 'held') === 'held'
}

/** The record of a job that nobody has decided about, and that no worker has looked at. */
export function firstApproval ({ digest, expiresSec }: Hold, timestamp: number): ApprovalRecord {
  return { state: 'held', digest, heldAt: timestamp, expiresAt: timestamp + expiresSec * 1_000 }
}

export function approvalView (hold: Hold, record: ApprovalRecord): ApprovalView {
  return {
    state: record.state,
    digest: record.digest,
    reason: hold.reason ?? null,
    rule: hold.rule ?? null,
    approvers: hold.approvers,
    by: hold.by ?? null,
    self: hold.self,
    held_at: isoTime(record.heldAt),
    expires_at: isoTime(record.expiresAt),
    changed: record.changed ?? null,
    decisions: (record.decisions ?? []).map(({ key, decision, reason, at, revoked }) => (
      { key, decision, reason: reason ?? null, at: isoTime(at), ...revoked === true && { revoked } }
    ))
  }
}
