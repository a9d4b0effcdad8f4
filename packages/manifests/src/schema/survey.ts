import { manifestLimits } from '../tool/limits.ts'
import { withoutNeedlessEscapes } from './pattern/escapes.ts'
import { isPlainPattern } from './pattern/plain.ts'
import { dataKeywords, mapKeywords, plainKeywords, referenceKeywords } from './keywords.ts'

/** What a schema holds, seen by one walk over its subschemas. */
export interface SchemaSurvey {
  /** Subschemas. */
  nodes: number
  /** What it costs to check and to compile, in keywords. */
  cost: number
  /** Regular expressions: of `pattern`, and the names in `patternProperties`. */
  patterns: Set<string>
  /** It has defaults, so that applying them changes the arguments. */
  defaults: boolean
  /** The keywords that it uses, and whether an `items` is a list. */
  keywords: Set<string>
  tuples: boolean
  /** All keywords are plain: what the meta-schema accepts will compile. */
  plain: boolean
  /** References within the schema. */
  references: Set<string>
  /** References that leave the schema. */
  remote: string[]
  /** It asks for Ajv's asynchronous validation, which would answer before it has validated. */
  asynchronous: boolean
}

/** Walks over a schema; it must not be nested without bound, which the reading of manifests sees to. */
export function surveySchema (schema: object): SchemaSurvey {
  const survey: SchemaSurvey = {
    nodes: 0,
    cost: 0,
    patterns: new Set(),
    defaults: false,
    keywords: new Set(),
    tuples: false,
    plain: true,
    references: new Set(),
    remote: [],
    asynchronous: false
  }
  visit(schema, survey)
  return survey
}

function visit (schema: unknown, survey: SchemaSurvey): void {
  if (Array.isArray(schema)) {
    for (const item of schema) visit(item, survey)
    return
  }
  if (typeof schema !== 'object' || schema === null) return
  survey.nodes++
  survey.cost++
  for (const [keyword, value] of Object.entries(schema)) {
    note(keyword, value, survey)
    if (dataKeywords.has(keyword)) continue
    if (!mapKeywords.has(keyword)) visit(value, survey)
    else for (const subschema of Object.values((value as unknown) ?? {})) visit(subschema, survey)
  }
}

/** Keywords that are not compiled. */
const annotations: ReadonlySet<string> = new Set(['$schema', '$comment', 'title', 'description', 'examples', 'deprecated', 'readOnly', 'writeOnly'])
/** To compile a plain pattern takes as long as to compile so many keywords at most. */
const plainPatternCost = 25
/** Names and values that are compiled in the time of one keyword. */
const valuesPerKeyword = 8

function costOf (keyword: string, value: unknown): number {
  if (annotations.has(keyword)) return 0
  if (keyword === 'pattern') return typeof value === 'string' ? patternCost(value) : 1
  if (keyword === 'patternProperties') return Object.keys(value ?? {}).reduce((sum, pattern) => sum + patternCost(pattern), 0)
  if (keyword === 'dependentRequired' || keyword === 'dependencies') return JSON.stringify(value ?? null).length / valuesPerKeyword
  return 1 + (Array.isArray(value) ? value.length / valuesPerKeyword : 0)
}

/**
 * Any pattern that isn't plain makes a schema large: a text of 1 MB takes seconds where RE2's automaton would have too many
 * states, and one that can backtrack takes any time.
 */
function patternCost (source: string): number {
  return isPlainPattern(withoutNeedlessEscapes(source)) ? plainPatternCost : manifestLimits.smallSchemaCost + 1
}

function note (keyword: string, value: unknown, survey: SchemaSurvey): void {
  survey.keywords.add(keyword)
  survey.cost += costOf(keyword, value)
  if (!plainKeywords.has(keyword)) survey.plain = false
  if (keyword === 'items' && Array.isArray(value)) survey.tuples = true
  // Ajv refuses an empty list; the meta-schemas of 2019-09 and 2020-12 do not.
  if (keyword === 'enum' && Array.isArray(value) && value.length === 0) survey.plain = false
  if (keyword === 'default') survey.defaults = true
  if (keyword === '$async') survey.asynchronous = true
  if (keyword === 'pattern' && typeof value === 'string') survey.patterns.add(value)
  if (keyword === 'patternProperties') for (const name of Object.keys(value ?? {})) survey.patterns.add(name)
  if (!referenceKeywords.has(keyword) || typeof value !== 'string') return
  if (value.startsWith('#')) survey.references.add(value)
  else survey.remote.push(value)
}
