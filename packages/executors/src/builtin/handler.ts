import type { CallErrorCode } from '@toolyard/contract'

/** Where and until when a built-in tool works. */
export interface BuiltinContext {
  workspaceDir: string
  /** Aborted at the timeout and at a cancel; a handler checks it between its steps. */
  signal: AbortSignal
}

/**
 * A built-in tool: runs in the worker's own process, never blocks it, and returns a JSON value.
 *
 * @throws BuiltinFailure for what the caller is to be told; anything else is a bug.
 */
export type BuiltinHandler = (args: Readonly<Record<string, unknown>>, context: BuiltinContext) => Promise<unknown>

/** A failure that a built-in tool reports to its caller. */
export class BuiltinFailure extends Error {
  override readonly name = 'BuiltinFailure'
  readonly code: CallErrorCode

  constructor (message: string, code: CallErrorCode = 'TOOL_FAILED') {
    super(message)
    this.code = code
  }
}
