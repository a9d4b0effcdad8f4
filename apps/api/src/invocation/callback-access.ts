import { HttpError } from '@toolyard/contract'
import { createCallbackCheck, type Callbacks, type NoCallbacks } from '@toolyard/runtime'

/** Refuses a `callback_url` that will not be called; undefined is none. */
export type CallbackAccess = (url: string | undefined) => void

/**
 * Makes the check of a `callback_url` against the operator's settings. What its host's name leads to is looked up
 * when the callback is sent, not now: the API connects to nobody.
 *
 * @throws (by what it makes) HttpError `VALIDATION_ERROR`
 */
export function createCallbackAccess (callbacks: Callbacks | NoCallbacks): CallbackAccess {
  if (callbacks.kind === 'none') {
    return url => {
      if (url !== undefined) throw new HttpError('VALIDATION_ERROR', `'callback_url' can't be used: callbacks are not configured here; the operator must set ${callbacks.missing.join(' and ')}`)
    }
  }
  const refusalOf = createCallbackCheck(callbacks.policy)
  return url => {
    const refusal = url === undefined ? undefined : refusalOf(new URL(url))
    if (refusal !== undefined) throw new HttpError('VALIDATION_ERROR', `'callback_url' can't be used: ${refusal}`)
  }
}
