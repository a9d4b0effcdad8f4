import type { CallErrorCode } from '@toolyard/contract'

/** What a caller is told of a path or a file that it can't have. */
export class WorkspaceFailure extends Error {
  override readonly name: string = 'WorkspaceFailure'
  readonly code: CallErrorCode
  readonly details: object | undefined

  constructor (message: string, code: CallErrorCode = 'TOOL_FAILED', details?: object) {
    super(message)
    this.code = code
    this.details = details
  }
}
