import type { CallErrorCode, HttpErrorCode } from './wire.ts'

/**
 * Codes of Toolyard's own errors (docs/errors.md), and two of this client: `UNREACHABLE` for a service that can't be
 * reached or that broke off, and `BAD_ANSWER` for an answer that isn't Toolyard's.
 */
export type ErrorCode = HttpErrorCode | CallErrorCode | 'UNREACHABLE' | 'BAD_ANSWER'

interface ErrorFacts {
  status?: number | undefined
  details?: unknown
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** A request that failed. Decide by `code`. */
export class ToolyardError extends Error {
  override readonly name: string = 'ToolyardError'
  readonly code: ErrorCode
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined
  readonly details: unknown
  /** Under this id the service's log has the request. */
  readonly requestId: string | undefined
  /** After which time the service asks to be asked again. */
  readonly retryAfterMs: number | undefined

  constructor (code: ErrorCode, message: string, { status, details, requestId, retryAfterMs, cause }: ErrorFacts = {}) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}

/** A tool call that failed; the request itself was served. */
export class ToolError extends ToolyardError {
  override readonly name = 'ToolError'
  readonly tool: string
  /** The call's job, if it became one; with the code `TIMEOUT` it goes on. */
  readonly jobId: string | undefined

  constructor (tool: string, jobId: string | undefined, code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts)
    this.tool = tool
    this.jobId = jobId
  }
}
