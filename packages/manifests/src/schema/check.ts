import { manifestLimits } from '../limits.ts'
import { PatternRefused } from '../pattern/pattern.ts'
import type { JsonSchema } from '../tool.ts'
import { draftOf, type AnyAjv, type Draft } from './draft.ts'
import { issuesOf } from './issues.ts'
import { surveySchema } from './survey.ts'

/** Why a schema is refused, as a text that follows `schema `, and what to do about it. */
export interface SchemaFault {
  message: string
  fix: string
}

/** What checking needs of its compiler. Patterns and schemas that are refused make the first two throw. */
export interface CheckTools {
  compilePattern: (source: string) => unknown
  compileSchema: (schema: JsonSchema) => unknown
  metaSchema: (draft: Draft) => AnyAjv
}

/** Whether a value of a manifest can be a schema of parameters at all. */
export function isSchemaObject (value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is wrong with a schema of a tool's parameters, first fault only; undefined when it can be used. */
export function checkSchema (schema: JsonSchema, tools: CheckTools): SchemaFault | undefined {
  const survey = surveySchema(schema)
  const draft = draftOf(schema, survey)
  if (draft === undefined) {
    return { message: `is of an unknown version (${JSON.stringify(schema['$schema'])})`, fix: 'Use draft-07, 2019-09 or 2020-12, or remove $schema.' }
  }
  if (!['type' in schema ? schema['type'] : 'object'].flat().includes('object')) {
    return { message: 'must describe an object', fix: 'Write "type": "object" and put the parameters into "properties".' }
  }
  if (survey.nodes > manifestLimits.schemaNodes) {
    return { message: `has more than ${manifestLimits.schemaNodes} subschemas`, fix: 'Make the schema smaller.' }
  }
  if (survey.asynchronous) return { message: 'must not use "$async"', fix: 'Remove "$async".' }
  const [remote] = survey.remote
  if (remote !== undefined) {
    return { message: `refers to ${JSON.stringify(remote)}, which is outside of it`, fix: 'Copy that schema into $defs and refer to it as #/$defs/NAME.' }
  }
  return patternFault(survey.patterns, tools) ??
    metaFault(schema, tools.metaSchema(draft)) ??
    (survey.plain ? undefined : compileFault(schema, tools))
}

function patternFault (sources: Iterable<string>, { compilePattern }: CheckTools): SchemaFault | undefined {
  for (const source of sources) {
    try {
      compilePattern(source)
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error
      return {
        message: `has a pattern that ${error.message}: ${JSON.stringify(source)}`,
        fix: 'Write the pattern so that no repeated part can match the same text in two ways, or use maxLength, enum or format instead.'
      }
    }
  }
  return undefined
}

function metaFault (schema: JsonSchema, meta: AnyAjv): SchemaFault | undefined {
  const { $schema: _, ...plain } = schema
  if (meta.validateSchema(plain) === true) return undefined
  const [issue] = issuesOf(meta.errors ?? [])
  return { message: `is not valid JSON Schema: ${issue?.path ?? '/'} ${issue?.message ?? 'is wrong'}`, fix: 'Correct the keyword at that path.' }
}

function compileFault (schema: JsonSchema, { compileSchema }: CheckTools): SchemaFault | undefined {
  try {
    compileSchema(schema)
    return undefined
  } catch (error) {
    const reason = error instanceof RangeError ? 'it is nested too deeply' : error instanceof Error ? error.message : String(error)
    return { message: `does not compile: ${reason}`, fix: 'Correct the schema; references must point into it.' }
  }
}
