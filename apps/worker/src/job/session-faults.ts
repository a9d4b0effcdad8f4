import { asError, errorCode, type CallError } from '@toolyard/contract/terms'
import type { SessionStay } from '@toolyard/store'
import { storageFailure, TemplateError, WorkspaceFailure } from '@toolyard/workspace'

export function quotaError (bytes: number, { session: { quotaBytes } }: SessionStay): CallError {
  const used = Number.isFinite(bytes) ? bytes : Number.MAX_SAFE_INTEGER
  const message = `the files of the session take more than its quota of ${quotaBytes} bytes; delete some of them`
  return { code: 'QUOTA_EXCEEDED', message, details: { quota_bytes: quotaBytes, used_bytes: used } }
}

export function directoryError (error: unknown): CallError {
  if (error instanceof TemplateError) return { code: 'TOOL_UNAVAILABLE', message: error.message }
  if (error instanceof WorkspaceFailure) return { code: error.code, message: error.message }
  const full = storageFailure(error)
  const message = `the directory of the session can't be made: ${full?.message ?? errorCode(error) ?? asError(error).message}`
  return { code: full?.code === 'QUOTA_EXCEEDED' ? full.code : 'TOOL_UNAVAILABLE', message }
}
