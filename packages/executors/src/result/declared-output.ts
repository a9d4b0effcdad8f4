import { setImmediate as turn } from 'node:timers/promises'
import { isRecord, limits, readWhole, WrittenNumber } from '@toolyard/contract/terms'
import type { JsonSchema } from '@toolyard/manifests'
import type { Success } from '../run/outcome.ts'
import type { DeclaredCheck } from '../run/tool-call.ts'

/** A compiled schema: what is wrong with a value, by JSON pointer. It never changes the value. */
type SchemaCheck = (
  value: Record<string, unknown>
) => Promise<{ ok: true } | { ok: false, issues: ReadonlyArray<{ path: string, message: string }> }>

export type CompileSchema = (schema: JsonSchema) => SchemaCheck

/** Makes the check of declared outputs. A schema is compiled at its first use, and as long as its tool is in the registry. */
export function createDeclaredCheck (compile: CompileSchema): DeclaredCheck {
  const checks = new WeakMap<JsonSchema, SchemaCheck>()
  return async (schema, output) => {
    if (!isRecord(output) || output instanceof WrittenNumber) return 'the output is not an object'
    const check = checks.get(schema) ?? compile(schema)
    checks.set(schema, check)
    const result = await check(output)
    if (result.ok) return undefined
    return `the output is not as declared: ${result.issues.map(({ path, message }) => `${path} ${message}`).join(', ')}`
  }
}

/** No output is checked that has more parts than arguments may have: it is parsed and checked in a turn of the event loop each. */
export async function outputFault (
  { output, json, parts = 0, cut }: Success, check: (output: unknown) => Promise<string | undefined>
): Promise<string | undefined> {
  if (cut !== undefined) return 'the output is too long to be checked'
  if (parts > limits.bodyParts) return `the output holds more than ${limits.bodyParts} objects, lists and fields, and is not checked`
  if (json === undefined) return await check(output)
  const value: unknown = readWhole(json.toString())
  await turn()
  return await check(value)
}
