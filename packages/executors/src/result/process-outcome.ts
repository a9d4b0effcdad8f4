import type { Failure, Outcome, Success } from '../run/outcome.ts'
import type { Captured } from '@toolyard/runtime'
import type { ProcessEnd } from '@toolyard/sandbox'
import { interruptionError } from '../run/interruption.ts'
import { printedEnds, shownChars, streamEnd, withoutProgress } from './stream-end.ts'
import { isRecord, limits, type CallError, firstChars } from '@toolyard/contract/terms'
import { parseJson } from '../run/json.ts'
import { decodePrefix } from '../run/utf8.ts'

/** After exit status 0 `readOutput` makes the outcome of stdout; else it is a failure. */
export function processOutcome (end: ProcessEnd, readOutput: (stdout: Captured) => Success, jobId: string): Outcome {
  return end.ending.kind === 'exit' && end.ending.code === 0 ? readOutput(end.stdout) : processFailure(end, jobId)
}

function processFailure (end: ProcessEnd, jobId: string): Failure {
  const { ending } = end
  switch (ending.kind) {
    case 'exit':
      return { ok: false, error: toolError(end, `exit status ${ending.code}`, jobId) }
    case 'signal':
      return { ok: false, error: toolError(end, `signal: ${ending.signal}`, jobId) }
    case 'unstarted':
      return { ok: false, error: ending.error }
    default:
      return { ok: false, error: interruptionError(ending, printedEnds(end)) }
  }
}

/**
 * The error of a tool that ended badly: the string `error` of stderr's JSON object, with the object's other
 * fields as `details`; else stderr, of a long one its end; else stdout; else how the process ended, such as
 * `exit status 3`. What the message doesn't show of stdout is in the details, its end at least.
 */
function toolError ({ stdout, stderr }: { stdout: Captured, stderr: Captured }, ending: string, jobId: string): CallError {
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
