import { Type } from '../value/type.ts'
import { limits } from '../terms/limits.ts'

/** Whom a job's end is told: an http(s) URL without credentials. Which hosts are allowed is the operator's matter. */
export const CallbackUrl = Type.Refine(
  Type.String({ minLength: 1, maxLength: limits.callbackUrlLength, description: 'Told of the end of the job by a signed POST. Seen by whoever may read the job.' }),
  isCallbackUrl
)

export const callbackUrlText = `'callback_url' must be an http(s) URL of at most ${limits.callbackUrlLength} characters, without user name and password`

function isCallbackUrl (text: string): boolean {
  // White space and control characters, which URL drops, would make it another text than it seems.
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}
