import { writeJson } from '@toolyard/contract/terms'
import { steadyMs, type Threads } from '@toolyard/runtime/threads'
import type { StepProgress } from '../../run/steps.ts'
import { runInThread } from '../kit/run-thread.ts'
import { namesIn } from './placeholders.ts'
import { substituted, type SubstitutionTask } from './substitution-task.ts'

/** UTF-16 units that placeholders may write for them to be replaced at once; more are replaced in a thread. */
const shortWork = 65_536
/** How long that may take, in milliseconds: a last resort. */
const maxMs = 30_000

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

/** Makes the function that replaces placeholders by parameters and outputs of steps; each output is read once. */
export function createSubstitution ({ params, progress: { byName }, threads, signal, owner }: SubstitutionHost): Substitution {
  const outputsByStep = new Map<string, Promise<string>>()
  const paramsJson = writeJson(params)

  async function outputsOf (names: ReadonlySet<string>): Promise<Array<[string, string]>> {
    return await Promise.all([...names].flatMap(name => {
      const step = byName.get(name)
      if (step?.state !== 'succeeded') return []
      const output = outputsByStep.get(name) ?? step.output()
      outputsByStep.set(name, output)
      return [output.then((json): [string, string] => [name, json])]
    }))
  }

  return async (value, at, maxParts) => {
    const names = namesIn(value, '').map(({ name }) => name)
    const outputs = await outputsOf(new Set(names))
    const task: SubstitutionTask = {
      value: writeJson(value), params: paramsJson, outputs, at, ...maxParts === undefined ? {} : { maxParts }
    }
    const chars = names.length * outputs.reduce((sum, [, json]) => sum + json.length, paramsJson.length)
    if (chars <= shortWork) return substituted(task)
    return await runInThread<string>(threads, { kind: 'substitution', task }, { until: steadyMs() + maxMs, owner, signal }, {
      time: `${at}: replacing its placeholders takes too long`,
      memory: `${at}: replacing its placeholders takes too much memory`
    })
  }
}
