import { parentPort } from 'node:worker_threads'
import { storedJson } from '@toolyard/contract/terms'
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
  const answer: SchemaAnswer = args === undefined
    ? { faults: compiler.check(schema) }
    : { result: compiler.validator(schema)(args) }
  parentPort?.postMessage(answer)
})
