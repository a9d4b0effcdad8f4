import { callErrors, type CallError, type OutputRecord, type Settlement } from '@toolyard/contract'

/** The fields of a job's hash that tell how it ended; `decodeSettlement` takes their values in this order. */
export const settlementFields = ['finishedOn', 'returnvalue', 'failedReason'] as const

/** How a failure is kept in BullMQ's `failedReason`: one text, so that it is written together with the state. */
export function encodeFailure (error: CallError): string {
  return JSON.stringify(error)
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
  if (returnValue !== null && returnValue !== undefined) return { ok: true, output: JSON.parse(returnValue) as OutputRecord }
  return { ok: false, error: decodeFailure(failedReason ?? '') }
}

/** A reason that isn't ours comes from BullMQ itself, which fails the jobs of workers that died too often. */
export function decodeFailure (reason: string): CallError {
  try {
    const error = JSON.parse(reason) as CallError
    if (Object.hasOwn(callErrors, error.code)) return error
  } catch {}
  return { code: 'WORKER_LOST', message: `The job was given up: ${reason}` }
}
