import { parentPort } from 'node:worker_threads'
import { readJson, storedJson, writeJson } from '@toolyard/contract/terms'
import { manifestLimits } from '../tool/limits.ts'
import type { JsonSchema } from '../tool/tool.ts'
import { createSchemaCompiler } from './compiler.ts'
import type { SchemaAnswer, SchemaTask } from './schema-thread.ts'

/** The thread that `schema-thread.ts` starts. */
let compiler = createSchemaCompiler()

parentPort?.on('message', ({ json, args }: SchemaTask) => {
  // Schemas that reloads have replaced are forgotten with all others.
  if (compiler.memory.validators.size > manifestLimits.compiledSchemas) compiler = createSchemaCompiler()
  const schema = storedJson<JsonSchema>(json)
  if (args === undefined) parentPort?.postMessage({ faults: compiler.check(schema) } satisfies SchemaAnswer)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- It is that of arguments.
  else parentPort?.postMessage(judged(schema, readJson(args) as Record<string, unknown>))
})

function judged (schema: JsonSchema, args: Record<string, unknown>): SchemaAnswer {
  const result = compiler.validator(schema)(args)
  if (!result.ok) return { issues: result.issues }
  return result.arguments === args ? {} : { filled: writeJson(result.arguments) }
}
