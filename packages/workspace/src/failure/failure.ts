import type { CallErrorCode } from '@toolyard/contract'
import { errorCode } from '@toolyard/contract/terms'

/** A path or a file that a caller can't have. */
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

/** The file system has no room: a quota of its own is used up, or it is full. Undefined for other errors. */
export function storageFailure (error: unknown): WorkspaceFailure | undefined {
  const code = errorCode(error)
  if (code === 'EDQUOT') return new WorkspaceFailure('the quota of the file system is used up (EDQUOT)', 'QUOTA_EXCEEDED')
  if (code === 'ENOSPC') return new WorkspaceFailure('the disk of the files is full (ENOSPC)')
  return undefined
}
