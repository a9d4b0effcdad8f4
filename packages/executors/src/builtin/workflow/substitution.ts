import { writeJson } from '@toolyard/contract/terms'
import { steadyMs, type Threads } from '@toolyard/runtime/threads'
import type { StepProgress, StepState } from '../../run/steps.ts'
import { BuiltinFailure } from '../kit/handler.ts'
import { runInThread } from '../kit/run-thread.ts'
import { namesIn } from './placeholders.ts'
import { substituted, type SubstitutionTask } from './substitution-task.ts'

/** UTF-16 units of a value, and of what its placeholders may write, for these to be replaced at once; more are replaced in a thread. */
const shortWork = 65_536
/** How long that may take, in milliseconds: a last resort. */
const maxMs = 30_000
/** Of outputs of steps that are kept for one run of a workflow, and that one value may name: what a worker's memory bears many times. */
const mostBytes = 33_554_432

interface SubstitutionHost {
  params: Readonly<Record<string, unknown>>
  progress: StepProgress
  threads: Threads
  signal: AbortSignal
  /** Whose call it is. */
  owner: string
}

/**
 * Replaces the placeholders of a value; gives JSON.
 *
 * @param at see `substitute`, as for `maxParts`.
 */
export type Substitution = (value: unknown, at: string, maxParts?: number) => Promise<string>

/** Makes the function that replaces placeholders by parameters and outputs of steps; outputs are read once, as far as they are kept. */
export function createSubstitution ({ params, progress: { byName }, threads, signal, owner }: SubstitutionHost): Substitution {
  const kept = new Map<string, Uint8Array>()
  let keptBytes = 0
  const paramsJson = writeJson(params)

  function keep (name: string, output: Uint8Array): void {
    if (kept.has(name)) return
    if (keptBytes + output.length > mostBytes) {
      kept.clear()
      keptBytes = 0
    }
    kept.set(name, output)
    keptBytes += output.length
  }

  /** One after the other: a hundred steps may have a megabyte each. */
  async function outputsOf (names: ReadonlySet<string>, at: string): Promise<Array<[string, Uint8Array]>> {
    const outputs: Array<[string, Uint8Array]> = []
    let bytes = 0
    for (const name of names) {
      const step = byName.get(name)
      if (step?.state !== 'succeeded') continue
      const output = kept.get(name) ?? sharedBytes(await wholeOutput(name, step, at))
      bytes += output.length
      if (bytes > mostBytes && outputs.length > 0) throw new BuiltinFailure(`${at}: the outputs of the steps that its placeholders name have more than ${mostBytes} bytes together: have steps write large ones to files`)
      keep(name, output)
      outputs.push([name, output])
    }
    return outputs
  }

  return async (value, at, maxParts) => {
    const names = namesIn(value, '').map(({ name }) => name)
    const outputs = await outputsOf(new Set(names), at)
    const json = writeJson(value)
    const task: SubstitutionTask = { value: json, params: paramsJson, outputs, at, ...maxParts === undefined ? {} : { maxParts } }
    const chars = json.length + names.length * outputs.reduce((sum, [, output]) => sum + output.length, paramsJson.length)
    if (chars <= shortWork) return substituted(task)
    return await runInThread<string>(threads, { kind: 'substitution', task }, { until: steadyMs() + maxMs, owner, signal }, {
      time: `${at}: replacing its placeholders takes too long`,
      memory: `${at}: replacing its placeholders takes too much memory`
    })
  }
}

/** The beginning of an output would be taken for all of it. */
async function wholeOutput (name: string, step: Extract<StepState, { state: 'succeeded' }>, at: string): Promise<string> {
  const { json, cut } = await step.output()
  if (cut === undefined) return json
  throw new BuiltinFailure(`${at}: the output of step '${name}' has ${cut.bytes} bytes, and only the first ${cut.storedBytes} were kept: MAX_OUTPUT_BYTES and its tool's limits.outputBytes bound them`)
}

/** A thread reads them where they are: to copy a hundred megabytes takes a tenth of a second. */
function sharedBytes (json: string): Uint8Array {
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(json)))
  bytes.write(json)
  return bytes
}
