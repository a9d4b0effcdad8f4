import type { CallErrorCode } from '@toolyard/contract'

/** Why a request isn't made, or has no output: the caller's error. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault'
  readonly code: CallErrorCode
  readonly details: object | undefined

  constructor (code: CallErrorCode, message: string, details?: object) {
    super(message)
    this.code = code
    this.details = details
  }
}
