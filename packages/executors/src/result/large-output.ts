import { failure, type Outcome } from '../run/outcome.ts'
import type { ProcessEnd } from '@toolyard/sandbox'
import { bufferOf, movable, steadyMs, ThreadError, type Threads } from '@toolyard/runtime/threads'
import { interruptionError } from '../run/interruption.ts'
import type { OutputAnswer, OutputTask } from './output-task.ts'
import { decodePrefix } from '../run/utf8.ts'

/** Bytes of an output that is read at once; a larger one is read in a thread. */
export const shortOutput = 65_536
/** How long reading an output may take, in milliseconds: a last resort. */
const maxMs = 30_000

export interface OutputReading {
  threads: Threads
  signal: AbortSignal
  /** Whose call it is. */
  owner: string
}

/** The output of a process that ended with exit status 0, if it is large; undefined for any other end. */
export async function largeProcessOutput ({ ending, stdout: { kept, totalBytes } }: ProcessEnd, kind: 'either' | 'text', reading: OutputReading): Promise<Outcome | undefined> {
  if (ending.kind !== 'exit' || ending.code !== 0 || kept.length <= shortOutput) return undefined
  if (totalBytes === kept.length) return await readLargeOutput({ bytes: kept, kind }, reading)
  // Output beyond what was kept is text, whatever it was.
  const { bytes } = decodePrefix(kept)
  const outcome = await readLargeOutput({ bytes: kept.subarray(0, bytes), kind: 'text' }, reading)
  return outcome.ok ? { ...outcome, cut: { bytes: totalBytes, storedBytes: bytes } } : outcome
}

export async function readLargeOutput (task: OutputTask, { threads, signal, owner }: OutputReading): Promise<Outcome> {
  try {
    const options = { until: steadyMs() + maxMs, owner, signal, move: movable(task.bytes) }
    const { json, parts } = await threads.run<OutputAnswer>({ kind: 'output', task }, options)
    return json === undefined ? failure('OUTPUT_INVALID', 'the output is not JSON') : { ok: true, output: undefined, json: bufferOf(json), parts }
  } catch (error) {
    if (signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: signal.reason }) }
    if (!(error instanceof ThreadError) || error.reason === 'thrown') throw error
    return failure('OUTPUT_INVALID', `the output needs too much ${error.reason} to be read`)
  }
}
