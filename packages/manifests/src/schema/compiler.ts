import type { Format, Options } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { manifestLimits } from '../limits.ts'
import { compilePattern, type Pattern } from '../pattern/pattern.ts'
import type { JsonSchema } from '../tool.ts'
import { checkSchema, type SchemaFault } from './check.ts'
import { compilableSchema } from './compilable.ts'
import { ajvFor, draftOf, type AnyAjv, type Draft } from './draft.ts'
import { stepCounter, uniqueItems } from './keywords.ts'
import { surveySchema } from './survey.ts'
import { createValidator, errorsOf, type CompiledSchema, type Validator } from './validator.ts'

/** Checks and compiles the schemas of one registry; patterns and meta-schemas are compiled once for all of them. */
export interface SchemaCompiler {
  /** What is wrong with a schema of a tool's parameters; undefined when it can be used. */
  check (schema: JsonSchema): SchemaFault | undefined
  /** A validator for a schema that `check` found nothing wrong with. */
  validator (schema: JsonSchema): Validator
}

type PatternCompiler = (source: string) => Pattern

/** `url` of ajv-formats takes quadratic time: 0.2 s for 20 kB. */
const formats: Record<string, Format> = {
  ...fullFormats,
  url: (text: string) => text.includes('://') && URL.canParse(text)
}

/** No coercion, defaults applied, formats checked, own properties only. Unknown keywords and formats are ignored. */
const options: Options = {
  strict: false, logger: false, useDefaults: true, ownProperties: true, multipleOfPrecision: 9, formats
}

/** A compiler of the schemas of tools. */
export function createSchemaCompiler (): SchemaCompiler {
  const pattern = rememberedPatterns()
  const metaSchema = metaSchemas()
  return {
    check: schema => checkSchema(schema, {
      compilePattern: pattern,
      compileSchema: schema => compileSchema(schema, false, pattern),
      metaSchema
    }),
    validator: schema => createValidator({
      compile: allErrors => compileSchema(schema, allErrors, pattern),
      defaults: surveySchema(schema).defaults
    })
  }
}

function rememberedPatterns (): PatternCompiler {
  const patterns = new Map<string, Pattern>()
  return source => {
    const pattern = patterns.get(source) ?? compilePattern(source)
    patterns.set(source, pattern)
    return pattern
  }
}

function metaSchemas (): (draft: Draft) => AnyAjv {
  const metas = new Map<Draft, AnyAjv>()
  return draft => {
    const meta = metas.get(draft) ?? ajvFor(draft, options)
    metas.set(draft, meta)
    return meta
  }
}

/** Each schema gets an Ajv of its own: identifiers in one can't clash with those of another. */
function compileSchema (schema: JsonSchema, allErrors: boolean, pattern: PatternCompiler): CompiledSchema {
  const steps = stepCounter(manifestLimits.referenceSteps)
  const ajv = ajvFor(draftOf(schema) ?? 'draft-07', {
    ...options,
    allErrors,
    validateSchema: false,
    meta: false,
    code: { regExp: Object.assign((source: string) => pattern(source), { code: 'pattern' }) }
  })
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems).addKeyword(steps.definition)
  const validate = ajv.compile(compilableSchema(schema, surveySchema(schema).plain))
  return {
    run: value => {
      steps.reset()
      return errorsOf(validate, value)
    }
  }
}
