import { isRecord } from '@toolyard/contract/terms'
import type { JsonSchema, PythonRun } from '@toolyard/manifests'

/** A compiled schema: what is wrong with a value, by JSON pointer. It never changes the value. */
export type SchemaCheck = (
  value: Record<string, unknown>
) => Promise<{ ok: true } | { ok: false, issues: ReadonlyArray<{ path: string, message: string }> }>

/** Compiles a JSON Schema of an object. */
export type CompileSchema = (schema: JsonSchema) => SchemaCheck

/** Says what is wrong with what a tool returned, in one line; undefined when it is as declared. */
export type OutputCheck = (run: PythonRun, output: unknown) => Promise<string | undefined>

/**
 * Makes the check of declared `outputs` (P21): the tool returns an object with every declared output, each as its
 * schema says; more may be in it. An object whose `success` is false tells of a failure, and is not checked (X16). A
 * schema is compiled at its first use, and as long as its tool is in the registry.
 */
export function createOutputCheck (compile: CompileSchema): OutputCheck {
  const checks = new WeakMap<PythonRun, SchemaCheck>()

  function checkOf (run: PythonRun, outputs: Record<string, unknown>): SchemaCheck {
    const check = checks.get(run) ?? compile({ type: 'object', properties: outputs, required: Object.keys(outputs) })
    checks.set(run, check)
    return check
  }

  return async (run, output) => {
    if (run.outputs === undefined) return undefined
    if (!isRecord(output)) return 'the output is not an object'
    if (output['success'] === false) return undefined
    const result = await checkOf(run, run.outputs)(output)
    if (result.ok) return undefined
    return `the output is not as declared: ${result.issues.map(({ path, message }) => `${path} ${message}`).join(', ')}`
  }
}
