import { createHash } from 'node:crypto'
import { writeThrough } from '@toolyard/contract/terms'
import { isDeeperThan } from '../document/depth.ts'
import { shortened } from '../finding/shortened.ts'
import { manifestLimits } from '../tool/limits.ts'
import type { JsonSchema } from '../tool/tool.ts'
import type { SchemaFault } from './check.ts'
import { createSchemaCompiler, type SchemaCompiler, type SchemaMemory } from './compiler.ts'
import type { Issue } from './issues.ts'
import { canBacktrack, writtenPlaces } from './pattern/pattern.ts'
import { commonForm } from './form/common-form.ts'
import { SchemaThreads } from './schema-threads.ts'
import { lostNumbers, surveySchema } from './survey.ts'
import { tooComplex, type ArgumentsResult, type Validator } from './validator.ts'

/**
 * Checks and compiles the schemas of one registry. To compile takes up to 0.3 ms for each keyword, and a pattern may take
 * seconds over a text: schemas that are not small, or have a pattern that is not plain, are checked, compiled and used
 * in a thread, and so are arguments that take more than a moment.
 */
export interface Schemas {
  /** Faults in a schema of a tool's parameters; none when it can be used. */
  check (schema: JsonSchema, owner?: string): Promise<SchemaFault[]>
  /** For a schema that `check` found nothing wrong with. */
  validators (schema: JsonSchema): Validators
  /** For that of the next load. */
  readonly memory: SchemasMemory
}

/** Two ways to validate arguments with the same result. */
interface Validators {
  /** At once, however long the schema takes to compile. */
  validate: Validator
  /** Leaves the event loop free. */
  check: (args: Record<string, unknown>, owner?: string) => Promise<ArgumentsResult>
}

/** Findings about schemas, so that a reload needs to look at new ones only. */
export interface SchemasMemory extends SchemaMemory {
  /** Faults of large schemas by their JSON. */
  readonly checks: ReadonlyMap<string, Promise<SchemaFault[]>>
  /** Digests of small schemas without a fault. */
  readonly good: ReadonlySet<string>
  readonly threads: SchemaThreads
}

/**
 * The schemas of one load of the manifests.
 *
 * @param known what that of the load before has learned; what isn't asked for again is forgotten with it.
 */
export function createSchemas (known?: SchemasMemory): Schemas {
  const { patterns, validators, metaSchema } = known ?? {}
  const isKnown = patterns !== undefined && validators !== undefined && metaSchema !== undefined
  const compiler = createSchemaCompiler(isKnown ? { patterns, validators, metaSchema } : undefined)
  const threads = known?.threads ?? new SchemaThreads()
  const checks = new Map<string, Promise<SchemaFault[]>>()
  const good = new Set<string>()
  return {
    memory: { ...compiler.memory, checks, good, threads },
    check: async (schema, owner) => {
      const isRefused = isDeeperThan(manifestLimits.depth, schema) || surveySchema(schema).nodes > manifestLimits.schemaNodes
      if (isRefused) return compiler.check(schema)
      if (!isLarge(schema)) {
        const digest = createHash('sha256').update(writeThrough(schema)).digest('base64')
        const faults = known?.good.has(digest) === true ? [] : [...lostValues(schema), ...compiler.check(schema)]
        if (faults.length === 0) good.add(digest)
        return faults
      }
      const json = writeThrough(schema)
      const check = checks.get(json) ?? known?.checks.get(json) ?? threads.check(json, owner)
      checks.set(json, check)
      return [...lostValues(schema), ...await check]
    },
    validators: validatorsWith(compiler, threads)
  }
}

/** They live as long as their tools do, and hold nothing of what a load knew. */
function validatorsWith (compiler: SchemaCompiler, threads: SchemaThreads): Schemas['validators'] {
  return schema => {
    let task: { json: string, backtracks: boolean } | undefined
    const inThread = async (args: Record<string, unknown>, owner = '') => {
      task ??= { json: writeThrough(schema), backtracks: [...surveySchema(schema).patterns].some(canBacktrack) }
      return await threads.validate(task.json, args, { backtracks: task.backtracks, owner }) ?? tooComplex
    }
    if (isLarge(schema)) return { validate: args => compiler.validator(schema)(args), check: inThread }
    const validate = compiler.validator(schema)
    return {
      validate,
      check: async (args, owner) => {
        const quick = validate(args, manifestLimits.quickSteps)
        return quick === tooComplex ? await inThread(args, owner) : quick
      }
    }
  }
}

/** Values that arguments are compared with: the right one would be refused, and another one taken. */
function lostValues (schema: JsonSchema): SchemaFault[] {
  if (isDeeperThan(manifestLimits.depth, schema)) return []
  return lostNumbers(schema).filter(({ keyword }) => ['enum', 'const'].includes(keyword)).map(({ place, text, read }) => (
    { message: `has ${shortened(text)} at ${shortened(place)}, which has more digits than are kept (${read})`, fix: 'Declare it as a text, of type string.' }
  ))
}

/** A schema that nests too deeply, or has too many subschemas, is refused at once. */
function isLarge (schema: JsonSchema): boolean {
  if (isDeeperThan(manifestLimits.depth, schema)) return false
  const { cost, nodes } = surveySchema(schema)
  return cost > manifestLimits.smallSchemaCost && nodes <= manifestLimits.schemaNodes
}

/** Checks questions of tools and the answers to them: their schemas are from tools, so nothing of them is remembered. */
export interface AnswerSchemas {
  /** Undefined where the schema of a question can be used. */
  fault (schema: JsonSchema, owner: string): Promise<string | undefined>
  /** The answer with its defaults, or what is wrong with it. */
  check (schema: JsonSchema, answer: Record<string, unknown>, owner?: string):
    Promise<{ answer: Record<string, unknown> } | { issues: Issue[] }>
}

export function createAnswerSchemas (): AnswerSchemas {
  const { memory } = createSchemas()
  const threads = new SchemaThreads(true)
  const fresh = (): Schemas => createSchemas({ ...memory, patterns: new Map(), validators: new Map(), checks: new Map(), threads })
  return {
    async fault (schema, owner) {
      if (schema['type'] !== 'object') return 'its type must be "object"'
      let places = 0
      for (const pattern of surveySchema(schema).patterns) places += writtenPlaces(pattern)
      if (places > manifestLimits.questionPlaces) return 'its patterns are too large with all that they repeat written out'
      return (await fresh().check(commonForm(schema), owner))[0]?.message
    },
    async check (schema, answer, owner) {
      const checked = await fresh().validators(commonForm(schema)).check(answer, owner)
      return checked.ok ? { answer: checked.arguments } : { issues: checked.issues }
    }
  }
}
