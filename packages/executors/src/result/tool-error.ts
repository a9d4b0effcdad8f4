import { isRecord, limits, type CallError } from '@toolyard/contract/terms'
import type { Captured } from '@toolyard/sandbox'
import { parseJson } from '../run/json.ts'
import { decodePrefix, firstChars } from '../run/utf8.ts'
import { shownChars, streamEnd, withoutProgress } from './stream-end.ts'

/**
 * The error of a tool that ended badly: the string `error` of stderr's JSON object, with the object's other
 * fields as `details`; else stderr, of a long one its end; else stdout; else how the process ended, such as
 * `exit status 3`. What the message doesn't show of stdout is in the details, its end at least.
 */
export function toolError ({ stdout, stderr }: { stdout: Captured, stderr: Captured }, ending: string, jobId: string): CallError {
  const [printed, said] = [decodePrefix(stdout.kept).text.trim(), withoutProgress(stderr.kept.toString('utf8')).trim()]
  const { message, details } = ownError(said) ?? { message: saidAtLast(stderr, said, jobId) || printed || ending }
  const whole = said === '' && stdout.end === undefined && printed.length <= limits.errorMessageChars
  const all = { ...(printed === '' || whole ? {} : { stdout: streamEnd(stdout) }), ...details }
  return { code: 'TOOL_FAILED', message: firstChars(message, limits.errorMessageChars), ...(Object.keys(all).length === 0 ? {} : { details: all }) }
}

/** The cause is at the end of a long stderr, so the end is the message. */
function saidAtLast (stderr: Captured, said: string, jobId: string): string {
  if (stderr.end === undefined && said.length <= shownChars) return said
  return `[the end of stderr; what came before is in the log: GET /v1/jobs/${jobId}/logs]\n${streamEnd(stderr)}`
}

function ownError (text: string): { message: string, details?: object } | undefined {
  if (!text.startsWith('{')) return undefined
  const value = parseJson(text)?.value
  const { error, ...details } = isRecord(value) ? value : {}
  if (typeof error !== 'string' || error.trim() === '') return undefined
  return Object.keys(details).length === 0 ? { message: error } : { message: error, details }
}
