import { readJson, writeJson } from '@toolyard/contract/terms'
import { serveThread } from '@toolyard/runtime/threads'
import { manifestLimits } from '../tool/limits.ts'
import type { JsonSchema } from '../tool/tool.ts'
import { createSchemaCompiler, type SchemaCompiler } from './compiler.ts'
import type { SchemaAnswer, SchemaTask } from './schema-threads.ts'

/** A thread that `schema-threads.ts` starts. */
let compiler = createSchemaCompiler()

serveThread({
  check: async (task: SchemaTask) => await Promise.resolve({ answer: compilerFor(task).check(schemaOf(task.json)) }),
  validate: async (task: SchemaTask) => await Promise.resolve({ answer: judged(task) })
})

/** Schemas that reloads have replaced are forgotten with all others. */
function compilerFor ({ once = false }: SchemaTask): SchemaCompiler {
  if (once) return createSchemaCompiler({ ...compiler.memory, patterns: new Map(), validators: new Map() })
  if (compiler.memory.validators.size > manifestLimits.compiledSchemas) compiler = createSchemaCompiler()
  return compiler
}

function judged (task: SchemaTask): SchemaAnswer {
  const { json, args = '' } = task
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- It is that of arguments.
  const given = readJson(args) as Record<string, unknown>
  const result = compilerFor(task).validator(schemaOf(json))(given)
  if (!result.ok) return { issues: result.issues }
  return result.arguments === given ? {} : { filled: writeJson(result.arguments) }
}

/** With the digits that a double loses. */
function schemaOf (json: string): JsonSchema {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The registry wrote it.
  return readJson(json) as JsonSchema
}
