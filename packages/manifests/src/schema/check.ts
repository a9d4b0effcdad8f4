import { isRecord } from '@toolyard/contract/terms'
import { isDeeperThan } from '../document/depth.ts'
import { shortened } from '../finding/shortened.ts'
import { manifestLimits } from '../tool/limits.ts'
import { PatternRefused } from './pattern/pattern.ts'
import type { JsonSchema } from '../tool/tool.ts'
import { draftOf, type AnyAjv, type Draft } from './draft.ts'
import { issuesOf } from './issues.ts'
import { referenceCycle } from './reference-cycle.ts'
import { surveySchema, type SchemaSurvey } from './survey.ts'

/** Why a schema is refused, as a text that follows `schema `, and what to do about it. */
export interface SchemaFault {
  message: string
  fix: string
}

/** Patterns and schemas that are refused make the first two throw. */
interface CheckTools {
  compilePattern: (source: string) => unknown
  compileSchema: (schema: JsonSchema) => unknown
  metaSchema: (draft: Draft) => AnyAjv
}

/** Faults in a schema of a tool's parameters; none when it can be used. */
export function checkSchema (schema: JsonSchema, tools: CheckTools): SchemaFault[] {
  if (isDeeperThan(manifestLimits.depth, schema)) return [{ message: `is nested deeper than ${manifestLimits.depth} levels`, fix: 'Nest the schema less deeply, with $defs and $ref.' }]
  const survey = surveySchema(schema)
  if (survey.nodes > manifestLimits.schemaNodes) {
    return [{ message: `has more than ${manifestLimits.schemaNodes} subschemas`, fix: 'Make the schema smaller.' }]
  }
  const draft = draftOf(schema, survey)
  if (draft === undefined) {
    return [{ message: `is of an unknown version (${shown(schema['$schema'])})`, fix: 'Use draft-04, draft-06, draft-07, 2019-09 or 2020-12, or remove $schema.' }]
  }
  const faults = [...plainFaults(schema, survey), ...patternFaults(survey.patterns, tools), ...metaFaults(schema, tools.metaSchema(draft))]
  return faults.length > 0 || survey.plain ? faults : compileFaults(schema, tools)
}

/** Places of a circle of references that a message has. */
const placesShown = 8

function plainFaults (schema: JsonSchema, survey: SchemaSurvey): SchemaFault[] {
  const faults: SchemaFault[] = survey.remote.slice(0, manifestLimits.issues).map(reference => (
    { message: `refers to ${shown(reference)}, which is outside of it`, fix: 'Copy that schema into $defs and refer to it as #/$defs/NAME.' }
  ))
  if (!['type' in schema ? schema['type'] : 'object'].flat().includes('object')) {
    faults.unshift({ message: 'must describe an object', fix: 'Write "type": "object" and put the parameters into "properties".' })
  }
  const cycle = referenceCycle(schema, survey.references)
  if (cycle !== undefined) {
    faults.push({
      message: `refers to itself without end: ${shown(cycle.slice(0, placesShown).join(' -> '))}`, fix: 'Write a schema at one of these places, instead of a reference.'
    })
  }
  if (survey.halfNames.length > 0) faults.push({ message: `has a name that is no Unicode text (${shown(survey.halfNames[0])})`, fix: 'Write another name: it has half a surrogate pair.' })
  if (survey.asynchronous) faults.unshift({ message: 'must not use "$async"', fix: 'Remove "$async".' })
  return faults
}

function patternFaults (sources: Iterable<string>, { compilePattern }: CheckTools): SchemaFault[] {
  const faults: SchemaFault[] = []
  for (const source of sources) {
    try {
      compilePattern(source)
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error
      faults.push({
        message: `has a pattern that ${error.message}: ${shown(source)}`,
        fix: pythonFix(source) ?? 'Correct the pattern, or use maxLength, enum or format instead.'
      })
      if (faults.length === manifestLimits.issues) break
    }
  }
  return faults
}

/** Syntax of patterns that Python alone has, and what JSON Schema has in its place. */
const ofPython: ReadonlyArray<readonly [syntax: RegExp, instead: string]> = [
  [/\(\?[aiLmsux]+(?:-[imsx]+)?[:)]/, 'write both cases, as in [Aa], in place of flags such as (?i)'],
  [/\(\?P</, 'write (...) in place of a group with a name, (?P<name>...)'],
  [/\(\?P=/, 'write the text again in place of (?P=name)'],
  [/\\A/, 'write ^ in place of \\A'],
  [/\\Z/, 'write $ in place of \\Z'],
  [/\(\?#/, 'leave the remark out'],
  [/\(\?\(/, 'write each case out in place of a condition'],
  [/\(\?>|[+*?}]\+/, 'write a plain repeat in place of a possessive one or an atomic group']
]

function pythonFix (source: string): string | undefined {
  const found = ofPython.filter(([syntax]) => syntax.test(source)).map(([, instead]) => instead)
  return found.length === 0 ? undefined : `This is syntax of Python; patterns here are those of JavaScript: ${found.join('; ')}.`
}

function metaFaults (schema: JsonSchema, meta: AnyAjv): SchemaFault[] {
  if (isPlainlyValid(schema)) return []
  const { $schema: _, ...plain } = schema
  if (meta.validateSchema(plain) === true) return []
  // Each alternative that a value doesn't fit has an error of its own; the first says what is meant most often.
  const issues = new Map(issuesOf(meta.errors ?? []).reverse().map(issue => [issue.path, issue]))
  return [...issues.values()].reverse().map(({ path, message }) => (
    { message: `is not valid JSON Schema: ${path} ${message}`, fix: remedies.get(path.split('/').at(-1) ?? '') ?? 'Correct the keyword at that path.' }
  ))
}

/** Keywords of older drafts that others still write. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['id', 'Write $id, as the drafts after draft-04 do, or remove it.'],
  ['exclusiveMinimum', 'Write the bound itself, a number, and leave minimum out.'],
  ['exclusiveMaximum', 'Write the bound itself, a number, and leave maximum out.'],
  ['required', 'List the names of the required properties beside "properties"; true and false are of draft-03.']
])

function compileFaults (schema: JsonSchema, { compileSchema }: CheckTools): SchemaFault[] {
  try {
    compileSchema(schema)
    return []
  } catch (error) {
    const reason = error instanceof RangeError ? 'it is nested too deeply' : error instanceof Error ? error.message : String(error)
    return [{ message: `does not compile: ${reason}`, fix: 'id' in schema || reason.includes('keyword "id"') ? remedies.get('id') ?? '' : 'Correct the schema; references must point into it.' }]
  }
}

function shown (value: unknown): string {
  return shortened(JSON.stringify(value))
}

const types: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'])
/** Names that are compared with one another. */
const mostNames = 100

const isText = (value: unknown): boolean => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isNames = (value: unknown): value is unknown[] => (
  Array.isArray(value) && value.length <= mostNames && value.every(isText) && new Set(value).size === value.length
)
const isSchema = (value: unknown): boolean => typeof value === 'boolean' || (isRecord(value) && isPlainlyValid(value))

/** Keywords that nearly all schemas of tools are made of, and what each draft takes as their values. */
const keywords = new Map<string, (value: unknown) => boolean>([
  ['type', value => types.has(value)],
  ['title', isText],
  ['description', isText],
  ['default', () => true],
  ['format', isText],
  ['enum', value => isNames(value) && value.length > 0],
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['uniqueItems', isFlag],
  ['required', isNames],
  ['items', isSchema],
  ['additionalProperties', isSchema],
  ['properties', value => isRecord(value) && Object.values(value).every(isSchema)]
])

/**
 * Whether a schema is so plain that every draft takes it: to ask a meta-schema takes 0.1 ms, which ten thousand tools feel. What isn't
 * known here is asked about.
 */
function isPlainlyValid (schema: Record<string, unknown>): boolean {
  return Object.keys(schema).every(keyword => keywords.get(keyword)?.(schema[keyword]) === true)
}
