import { limits, type CallError } from '@toolyard/contract/terms'
import { parseJson } from './json.ts'
import { firstChars } from './utf8.ts'

/**
 * The error of a tool that ended badly (AC17, X6): the string `error` of stderr's JSON object, with the object's other
 * fields as `details`; else stderr; else how the process ended, such as `exit status 3`. stdout has no part in it.
 */
export function toolError (stderr: Buffer, ending: string): CallError {
  const text = stderr.toString('utf8').trim()
  const { message, details } = ownError(text) ?? { message: text === '' ? ending : text }
  return {
    code: 'TOOL_FAILED',
    message: firstChars(message, limits.errorMessageChars),
    ...(details === undefined ? {} : { details })
  }
}

function ownError (text: string): { message: string, details?: object } | undefined {
  if (!text.startsWith('{')) return undefined
  const { error, ...details } = (parseJson(text)?.value ?? {}) as Record<string, unknown>
  if (typeof error !== 'string' || error.trim() === '') return undefined
  return Object.keys(details).length === 0 ? { message: error } : { message: error, details }
}
