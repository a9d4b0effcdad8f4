import { holdsWritten, isRecord, lostText } from '@toolyard/contract/terms'
import { manifestLimits } from '../tool/limits.ts'
import { withoutNeedlessEscapes } from './pattern/escapes.ts'
import { isPlainPattern } from './pattern/plain.ts'
import { plainKeywords } from './keywords.ts'
import { dataKeywords, mapKeywords, referenceKeywords, subschemasOf, type Subschema } from './form/subschemas.ts'

/** Seen by one walk over the subschemas of a schema. */
export interface SchemaSurvey {
  /** Subschemas, counted until there are more than a schema may have: such a schema is refused, whatever else it has. */
  nodes: number
  /** To check and to compile, in keywords. */
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
  references: Set<string>
  /** References that leave the schema. */
  remote: string[]
  /** Names of properties and definitions that hold half a surrogate pair, which Ajv can't compile. */
  halfNames: string[]
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
    halfNames: [],
    asynchronous: false
  }
  visit(schema, survey)
  return survey
}

function visit (schema: unknown, survey: SchemaSurvey): void {
  if (survey.nodes > manifestLimits.schemaNodes) return
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
    else {
      for (const [name, subschema] of Object.entries((value as unknown) ?? {})) {
        if (/\p{Surrogate}/u.test(name)) survey.halfNames.push(name)
        visit(subschema, survey)
      }
    }
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

/** A number of a schema that a double can't hold: schemas are compiled, mended and sent as doubles. */
export interface LostNumber {
  /** Where it stands, such as `properties.id.enum.0`. */
  place: string
  /** As it was written. */
  text: string
  /** As it is read. */
  read: number
  keyword: string
}

/** Numbers that are told. */
const most = 20

/** All of them but those of defaults, which are not filled in. The schema must not be nested without bound. */
export function lostNumbers (schema: unknown): LostNumber[] {
  // Few texts have such numbers at all.
  if (!isRecord(schema) || !holdsWritten(schema)) return []
  return subschemasOf(schema).flatMap(({ node, place }) => Object.entries(node).flatMap(([keyword, value]) => {
    if (keyword === 'enum' && Array.isArray(value)) return value.flatMap((_, at) => lostNumber(value, at, { keyword, place: [...place, keyword] }))
    return dataKeywords.has(keyword) && keyword !== 'const' ? [] : lostNumber(node, keyword, { keyword, place })
  })).slice(0, most)
}

function lostNumber (container: object, name: string | number, at: Pick<Subschema, 'place'> & { keyword: string }): LostNumber[] {
  const text = lostText(container, name)
  return text === undefined ? [] : [{ place: [...at.place, name].join('.'), text, read: Number(Reflect.get(container, name)), keyword: at.keyword }]
}

/** Whether a member of an object, or anything in it, is a number that a double can't hold. */
export function losesDigits (container: object, name: string): boolean {
  const value: unknown = Reflect.get(container, name)
  if (typeof value === 'number') return lostText(container, Array.isArray(container) ? Number(name) : name) !== undefined
  return typeof value === 'object' && value !== null && Object.keys(value).some(inner => losesDigits(value, inner))
}
