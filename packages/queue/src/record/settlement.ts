import type { OutputRecord, SandboxState, Settlement } from '@toolyard/contract'
import { callErrors, isRecord, readJson, writeThrough, type CallError } from '@toolyard/contract/terms'
import { readStored } from '@toolyard/store'

/** The fields of a job's hash that tell how it ended; `decodeSettlement` takes their values in this order. */
export const settlementFields = ['finishedOn', 'returnvalue', 'failedReason'] as const

/** A job whose worker is lost more often than this is failed (promise 4). */
export const maxLostRuns = 2
/** BullMQ's words for such a one. */
export const lostTooOften = 'job stalled more than allowable limit'
/** Why a job whose worker was lost is failed without another run. */
export const notRunAgain = 'The worker that ran this job was lost; the tool is not idempotent and is not run again'
/** The same of a call that was approved, also where its tool may be run again otherwise: an approval is for one run. */
export const approvedOnce = 'The worker that ran this job was lost; its approval was for one run, and it is not run again'
/** The same where no manifest has the tool any more: nobody can say whether it may run again. */
export const toolGone = 'The worker that ran this job was lost; its tool is gone from the manifests, and it is not run again'
/** All job ids are UUIDs. */
const idLength = 36

/** How a failure is kept in BullMQ's `failedReason`: one text, so that it is written together with the state. */
export function encodeFailure (error: CallError, sandbox?: SandboxState): string {
  return writeThrough(sandbox === undefined ? error : { ...error, sandbox })
}

/** How well the processes of a job that failed were shut in, when it ran any. */
export function sandboxOfFailure (reason: string): SandboxState | undefined {
  return readFailure(reason)?.sandbox
}

/**
 * Reads how a job ended from the values of `settlementFields`.
 *
 * @returns undefined while the job isn't finished.
 */
export function decodeSettlement (values: ReadonlyArray<string | null | undefined>): Settlement | undefined {
  const [finishedOn, returnValue, failedReason] = values
  if (finishedOn === null || finishedOn === undefined) return undefined
  // A job that succeeded after a failed run has both.
  if (returnValue !== null && returnValue !== undefined) return { ok: true, output: decodeOutput(returnValue) }
  return { ok: false, error: decodeFailure(failedReason ?? '') }
}

/** Reads the output of a job that succeeded, as `OutputStore` has written it. */
export function decodeOutput (text: string): OutputRecord {
  return readStored('the output of a job', text, isOutput)
}

function isOutput (value: unknown): value is OutputRecord {
  return isRecord(value) && (value['kind'] === 'inline' || (value['kind'] === 'stored' && typeof value['bytes'] === 'number'))
}

/** Reads a line of what the API process that waits for jobs is told of their ends: the id, `+` or `-`, and what the record says. */
export function decodeReply (line: string): { id: string, settlement: Settlement } {
  const text = line.slice(idLength + 1)
  return { id: line.slice(0, idLength), settlement: line[idLength] === '+' ? { ok: true, output: decodeOutput(text) } : { ok: false, error: decodeFailure(text) } }
}

/**
 * How often a job ran. BullMQ counts how often it was taken; a job that fails without a run was taken once more, only to be failed.
 *
 * @param started as BullMQ counts
 */
export function runsOf (started: number, failedReason: string | null | undefined): number {
  return isFailedUnrun(failedReason) ? started - 1 : started
}

/** Whether the job was taken last only to be failed, without a run: its worker was lost, or a job that it depends on did not succeed. */
export function isFailedUnrun (failedReason: string | null | undefined): boolean {
  if (typeof failedReason !== 'string') return false
  if (failedReason === lostTooOften || failedReason.startsWith('{"code":"DEPENDENCY_BLOCKED"')) return true
  return [notRunAgain, approvedOnce, toolGone].some(why => failedReason.includes(why))
}

/** A reason that isn't ours comes from BullMQ itself, which fails the jobs of workers that died too often. */
export function decodeFailure (reason: string): CallError {
  const failure = readFailure(reason)
  if (failure !== undefined) {
    const { sandbox: _, ...error } = failure
    return error
  }
  return { code: 'WORKER_LOST', message: reason === lostTooOften ? `The job was given up: its worker was lost in each of ${maxLostRuns + 1} runs` : `The job was given up: ${reason}` }
}

type Failure = CallError & { sandbox?: SandboxState }

/** Reads what `encodeFailure` has written; undefined for any other text. */
function readFailure (reason: string): Failure | undefined {
  try {
    const value = readJson(reason)
    return isFailure(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFailure (value: unknown): value is Failure {
  return isRecord(value) && typeof value['code'] === 'string' && Object.hasOwn(callErrors, value['code']) && typeof value['message'] === 'string'
}
