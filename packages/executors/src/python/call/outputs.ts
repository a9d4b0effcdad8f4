import { isRecord } from '@toolyard/contract/terms'
import type { JsonSchema, PythonRun } from '@toolyard/manifests'
import type { DeclaredCheck } from '../../run/tool-call.ts'

/** Says what is wrong with what a tool returned, in one line; undefined when it is as declared. */
export type OutputCheck = (run: PythonRun, output: unknown) => Promise<string | undefined>

/**
 * Makes the check of declared `outputs`: the tool returns an object with every declared output, each as its
 * schema says; more may be in it. An object whose `success` is false tells of a failure, and is not checked.
 */
export function createOutputCheck (check: DeclaredCheck): OutputCheck {
  const schemas = new WeakMap<PythonRun, JsonSchema>()
  return async (run, output) => {
    if (run.outputs === undefined || (isRecord(output) && output['success'] === false)) return undefined
    const schema = schemas.get(run) ?? { type: 'object', properties: run.outputs, required: Object.keys(run.outputs) }
    schemas.set(run, schema)
    return await check(schema, output)
  }
}
