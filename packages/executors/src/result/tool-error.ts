import { limits, type CallError } from '@toolyard/contract/terms'
import type { Captured } from '../process/end/capture.ts'
import { parseJson } from '../run/json.ts'
import { decodePrefix, decodeSuffix, firstChars, lastChars } from '../run/utf8.ts'

/** UTF-16 units of stdout that a failure shows beside its message. */
const stdoutChars = 2_000

/**
 * The error of a tool that ended badly (AC17, X6): the string `error` of stderr's JSON object, with the object's other
 * fields as `details`; else stderr; else stdout; else how the process ended, such as `exit status 3`. What the message
 * doesn't show of stdout is in the details, its end at least.
 */
export function toolError ({ stdout, stderr }: { stdout: Captured, stderr: Captured }, ending: string): CallError {
  const [printed, said] = [decodePrefix(stdout.kept).text.trim(), stderr.kept.toString('utf8').trim()]
  const { message, details } = ownError(said) ?? { message: said || printed || ending }
  const whole = said === '' && stdout.end === undefined && printed.length <= limits.errorMessageChars
  const all = { ...(printed === '' || whole ? {} : { stdout: endOf(stdout, printed) }), ...details }
  return { code: 'TOOL_FAILED', message: firstChars(message, limits.errorMessageChars), ...(Object.keys(all).length === 0 ? {} : { details: all }) }
}

function endOf ({ end }: Captured, printed: string): string {
  return lastChars(end === undefined ? printed : decodeSuffix(end).trim(), stdoutChars)
}

function ownError (text: string): { message: string, details?: object } | undefined {
  if (!text.startsWith('{')) return undefined
  const { error, ...details } = (parseJson(text)?.value ?? {}) as Record<string, unknown>
  if (typeof error !== 'string' || error.trim() === '') return undefined
  return Object.keys(details).length === 0 ? { message: error } : { message: error, details }
}
