import { namesIn } from './placeholders.ts'
import type { StepProgress } from '../../run/steps.ts'

/** Returns a function that reads the outputs which the placeholders of a value name, each once. */
export function createOutputs ({ byName }: StepProgress): (value: unknown) => Promise<Map<string, unknown>> {
  const known = new Map<string, Promise<unknown>>()
  return async value => {
    const names = new Set(namesIn(value, '').map(({ name }) => name))
    const read = [...names].flatMap(name => {
      const step = byName.get(name)
      if (step?.state !== 'succeeded') return []
      const output = known.get(name) ?? step.output()
      known.set(name, output)
      return [output.then(whole => [name, whole] as const)]
    })
    return new Map(await Promise.all(read))
  }
}
