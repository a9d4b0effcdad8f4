import type { Failure, Outcome, Success } from '../run/outcome.ts'
import type { Captured, ProcessEnd } from '@toolyard/sandbox'
import { interruptionError } from '../run/interruption.ts'
import { printedEnds } from './stream-end.ts'
import { toolError } from './tool-error.ts'

/** What a process's end is to the caller: what `readOutput` makes of stdout after exit status 0, else a failure. */
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
