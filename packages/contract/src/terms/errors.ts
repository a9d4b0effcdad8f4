import { firstChars } from '../value/first-chars.ts'
import { isRecord } from '../value/record.ts'

/**
 * Errors that end a whole request: the HTTP status, whether repeating the request may help, and what it means.
 * The body is always `{ok: false, error: {code, message, details?}, request_id}`.
 */
export const httpErrors = {
  VALIDATION_ERROR: { status: 400, retryable: false, meaning: 'The request is not as the contract says; the message names the first place.' },
  UNAUTHORIZED: { status: 401, retryable: false, meaning: 'Neither x-api-key nor Authorization: Bearer holds a known key.' },
  FORBIDDEN: { status: 403, retryable: false, meaning: 'The key may not do this.' },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'No such route, job or record, or it is not visible to this key.' },
  CONFLICT: { status: 409, retryable: false, meaning: 'The record is in a state that does not allow this.' },
  IDEMPOTENCY_CONFLICT: { status: 409, retryable: false, meaning: 'The Idempotency-Key was used with another request.' },
  PRECONDITION_FAILED: { status: 412, retryable: false, meaning: 'The file is not, or no longer, as If-Match or If-None-Match say.' },
  PAYLOAD_TOO_LARGE: { status: 413, retryable: false, meaning: 'The body is larger than 1 MiB.' },
  QUOTA_EXCEEDED: { status: 413, retryable: false, meaning: 'The files of the session would take more than its quota, or the quota of the file system is used up; nothing was changed.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false, meaning: 'The body is not application/json.' },
  RANGE_NOT_SATISFIABLE: { status: 416, retryable: false, meaning: 'The file has no bytes in this range.' },
  RATE_LIMITED: { status: 429, retryable: true, meaning: 'Too many requests, jobs or unread answers for this key; see Retry-After.' },
  INTERNAL: { status: 500, retryable: false, meaning: 'A fault of the service; the log has it under the request id.' },
  UNAVAILABLE: { status: 503, retryable: true, meaning: 'Redis cannot be reached, or the service is starting, stopping, or holds as many streams as it may.' },
  STORAGE_FULL: { status: 507, retryable: true, meaning: 'The disk of the files is full; nothing was changed.' },
  AUTH_NOT_CONFIGURED: { status: 503, retryable: false, meaning: 'No API key is configured.' }
} as const

/**
 * Errors embedded in one call's answer; the request itself is a 200 and the call's siblings are served. `status` is that
 * of `POST /v1/tools/:name`, where the call is the whole request: clients repeat 408, 409, 429 and 5xx by themselves, so
 * none of these stands for a call that may have run.
 */
export const callErrors = {
  UNKNOWN_TOOL: { status: 404, retryable: false, meaning: 'No tool of this name is in the registry.' },
  JOB_TYPE_DISABLED: { status: 403, retryable: false, meaning: 'The tool exists, but its job type or policy is switched off.' },
  INVALID_ARGUMENTS: { status: 400, retryable: false, meaning: 'The arguments do not fit the schema of the tool; details lists the paths.' },
  FORBIDDEN: { status: 403, retryable: false, meaning: 'The queue, the namespace or the permissions of the tool are not allowed for this key.' },
  TIMEOUT: { status: 202, retryable: true, meaning: 'wait_ms ended first; the job goes on and can be followed by its job_id.' },
  TOOL_FAILED: { status: 422, retryable: true, meaning: 'The tool ran and reported failure; the message is its own.' },
  TOOL_TIMEOUT: { status: 422, retryable: false, meaning: 'The tool ran longer than its execution timeout and was killed.' },
  TOOL_UNAVAILABLE: { status: 503, retryable: false, meaning: 'The program is missing or cannot be started, or the module does not import.' },
  NOT_ALLOWED: { status: 403, retryable: false, meaning: 'An allowlist does not contain what the call would run.' },
  OUTPUT_INVALID: { status: 422, retryable: false, meaning: 'The tool returned something that cannot be an output.' },
  JOB_CANCELLED: { status: 422, retryable: false, meaning: 'The job was cancelled.' },
  WORKER_LOST: { status: 422, retryable: true, meaning: 'The worker died or lost its job; a tool that is not idempotent is not run again.' },
  DEPENDENCY_BLOCKED: { status: 422, retryable: false, meaning: 'A job that this one depends on failed, was cancelled or is missing; this one did not run.' },
  QUOTA_EXCEEDED: { status: 422, retryable: false, meaning: 'The files of the session take more than its quota, or the quota of the file system is used up.' },
  SESSION_GONE: { status: 422, retryable: false, meaning: 'The session of the call was removed before the call ended.' },
  SANDBOX_FAILED: { status: 503, retryable: true, meaning: 'The sandbox could not be set up; the tool did not run.' },
  QUEUE_FULL: { status: 429, retryable: true, meaning: 'The queue is at its depth limit, the key has as many unfinished jobs, or untaken callbacks, as it may, no further queue may be made, or Redis is full.' },
  POLICY_DENIED: { status: 403, retryable: false, meaning: 'A policy does not allow this call; the message is the reason of its rule.' },
  HELD: { status: 202, retryable: true, meaning: 'The call waits until somebody approves it; it can be followed by its job_id.' },
  APPROVAL_DENIED: { status: 403, retryable: false, meaning: 'Somebody looked at the call and denied it; it did not run.' },
  APPROVAL_EXPIRED: { status: 403, retryable: false, meaning: 'Nobody decided about the call in time; it did not run.' },
  INPUT_REQUIRED: { status: 202, retryable: true, meaning: 'The tool asks something back; it goes on when the question in details is answered.' },
  INPUT_EXPIRED: { status: 422, retryable: false, meaning: 'Nobody answered the question of the tool in time.' },
  QUESTION_INVALID: { status: 422, retryable: false, meaning: 'The tool asked something back that it may not ask, or not in this way.' },
  SECRET_MISSING: { status: 422, retryable: false, meaning: 'Nobody has stored a secret that the tool uses, for this key, its tenant or the operator; the tool did not run.' },
  INTERNAL: { status: 422, retryable: true, meaning: 'A fault of the service while it handled this call.' }
} as const

export type HttpErrorCode = keyof typeof httpErrors
export type CallErrorCode = keyof typeof callErrors

export interface CallError {
  code: CallErrorCode
  message: string
  details?: unknown
}

/** A failure that ends the request; the API's error handler turns it into its JSON body. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode
  readonly details: Record<string, unknown> | undefined

  /** Only `VALIDATION_ERROR` always carries `details`. */
  constructor (code: HttpErrorCode, message: string, details?: Record<string, unknown>) {
    super(message)
    this.code = code
    this.details = details ?? (code === 'VALIDATION_ERROR' ? {} : undefined)
  }

  get status (): number {
    return httpErrors[this.code].status
  }
}

export const foreignCursor = "'cursor' is not a cursor of this query: send it with what it came with, or leave it out"

export function invalid (message: string): HttpError {
  return new HttpError('VALIDATION_ERROR', message)
}

/** Checks a body that is an object; undefined for a good one, else `VALIDATION_ERROR` with the text of its first error. */
export function checkObject (body: unknown, firstError: (body: Record<string, unknown>) => string | undefined): HttpError | undefined {
  const message = isRecord(body) ? firstError(body) : 'Request body must be an object'
  return message === undefined ? undefined : invalid(message)
}

/** Characters of a name that a message shows. */
const shownName = 200

/** A name as messages show it: it may be as long as a request. */
export function shortName (name: string): string {
  return name.length <= shownName ? name : `${firstChars(name, shownName)}…`
}
