import { writeThrough } from '@toolyard/contract/terms'
import type { Format, Options } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { compilePattern, type Pattern } from './pattern/pattern.ts'
import type { JsonSchema } from '../tool/tool.ts'
import { checkSchema, type SchemaFault } from './check.ts'
import { compilableSchema } from './compilable.ts'
import { ajvFor, draftOf, type AnyAjv, type Draft } from './draft.ts'
import { stepCounter, stepKeyword, uniqueItems } from './keywords.ts'
import { equalityKeywords } from './numbers/equality.ts'
import { writtenKeywords } from './numbers/written-keywords.ts'
import { surveySchema, type SchemaSurvey } from './survey.ts'
import { createValidator, errorsOf, type CheckWay, type CompiledSchema, type Validator } from './validator.ts'

/** Checks and compiles the schemas of one registry; patterns and meta-schemas are compiled once for all of them. */
export interface SchemaCompiler {
  /** Faults in a schema of a tool's parameters; none when it can be used. */
  check (schema: JsonSchema): SchemaFault[]
  /** A validator for a schema that `check` found nothing wrong with. */
  validator (schema: JsonSchema): Validator
  /** For the compiler of the next load. */
  readonly memory: SchemaMemory
}

/** Findings about schemas, so that a reload needs to look at new ones only. */
export interface SchemaMemory {
  /** By their source. */
  readonly patterns: ReadonlyMap<string, Pattern>
  /** By the JSON of their schema. */
  readonly validators: ReadonlyMap<string, Validator>
  /** Compiled once for all loads: that takes 20 to 80 ms. */
  readonly metaSchema: (draft: Draft) => AnyAjv
}

type PatternCompiler = (source: string) => Pattern

/** `url` of ajv-formats takes quadratic time: 0.2 s for 20 kB. */
const formats: Record<string, Format> = {
  ...fullFormats,
  url: (text: string) => text.includes('://') && URL.canParse(text)
}

/**
 * No coercion, defaults applied, formats checked, own properties only. Unknown keywords and formats are ignored. What
 * references lead to is compiled once: a copy in each place takes time without bound.
 */
const options: Options = {
  strict: false, logger: false, inlineRefs: false, useDefaults: true, ownProperties: true, multipleOfPrecision: 9, formats
}

/**
 * A compiler of the schemas of tools.
 *
 * @param known what the compiler of the load before has learned; what isn't asked for again is forgotten with it.
 */
export function createSchemaCompiler (known?: SchemaMemory): SchemaCompiler {
  const patterns = new Map<string, Pattern>()
  const validators = new Map<string, Validator>()
  const pattern: PatternCompiler = source => remember(patterns, source, () => known?.patterns.get(source) ?? compilePattern(source))
  const metaSchema = known?.metaSchema ?? metaSchemas()
  return {
    memory: { patterns, validators, metaSchema },
    check: schema => checkSchema(schema, {
      compilePattern: pattern,
      compileSchema: schema => compileSchema(schema, 'first error', pattern),
      metaSchema
    }),
    validator: schema => {
      const json = writeThrough(schema)
      return remember(validators, json, () => known?.validators.get(json) ?? newValidator(schema, pattern))
    }
  }
}

function newValidator (schema: JsonSchema, pattern: PatternCompiler): Validator {
  const survey = surveySchema(schema)
  return lastingValidator(schema, survey, new Map([...survey.patterns].map(source => [source, pattern(source)])))
}

/** Holds its own patterns, and nothing of the compiler that made it: it may live on over many reloads. */
function lastingValidator (schema: JsonSchema, { defaults }: SchemaSurvey, patterns: ReadonlyMap<string, Pattern>): Validator {
  return createValidator({
    compile: way => compileSchema(schema, way, source => patterns.get(source) ?? compilePattern(source)),
    defaults
  })
}

function remember<T> (memory: Map<string, T>, key: string, make: () => T): T {
  const value = memory.get(key) ?? make()
  memory.set(key, value)
  return value
}

function metaSchemas (): (draft: Draft) => AnyAjv {
  const metas = new Map<Draft, AnyAjv>()
  return draft => {
    const meta = metas.get(draft) ?? newMeta(draft)
    metas.set(draft, meta)
    return meta
  }
}

/** Values of an `enum` must be unique, too: Ajv's own check takes 1 s for 8,000 objects. */
function newMeta (draft: Draft): AnyAjv {
  const meta = ajvFor(draft, { ...options, allErrors: true })
  meta.removeKeyword('uniqueItems').addKeyword(uniqueItems(() => {}))
  return meta
}

/** Each schema gets an Ajv of its own: identifiers in one can't clash with those of another. */
function compileSchema (schema: JsonSchema, way: CheckWay, pattern: PatternCompiler): CompiledSchema {
  const steps = stepCounter()
  // Ajv tells patterns apart by their text.
  const counted = (source: string): Pick<Pattern, 'test' | 'toString'> => {
    const compiled = pattern(source)
    const test = (text: string): boolean => {
      steps.countPattern(text, compiled)
      return compiled.test(text)
    }
    return { test, toString: () => compiled.toString() }
  }
  const ajv = ajvFor(draftOf(schema, surveySchema(schema)) ?? 'draft-07', {
    ...options,
    allErrors: way === 'all errors',
    validateSchema: false,
    meta: false,
    // Ajv's optimizer takes the square of a schema's size: 10 s for 1,000 properties, 1 s without it on the same machine.
    code: { optimize: false, regExp: Object.assign(counted, { code: 'pattern' }) }
  })
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems(steps.count)).addKeyword(steps.definition)
  const own = [...equalityKeywords(steps.count), ...way === 'written' ? writtenKeywords() : []]
  for (const keyword of own) ajv.removeKeyword(String(keyword.keyword)).addKeyword(keyword)
  // Ajv checks keywords in this order, and none of those behind one that fails.
  const [first] = ajv.RULES.rules
  first?.rules.sort((one, other) => Number(other.keyword === stepKeyword) - Number(one.keyword === stepKeyword))
  const validate = ajv.compile(compilableSchema(schema))
  return {
    run: (value, most) => {
      steps.reset(most)
      return errorsOf(validate, value)
    }
  }
}
