import { dataKeywords, mapKeywords, plainKeywords, referenceKeywords } from './keyword-kinds.ts'

/** What a schema holds, seen by one walk over its subschemas. */
export interface SchemaSurvey {
  /** Subschemas. */
  nodes: number
  /** Regular expressions: of `pattern`, and the names in `patternProperties`. */
  patterns: Set<string>
  /** It has defaults, so that applying them changes the arguments. */
  defaults: boolean
  /** The keywords that it uses, and whether an `items` is a list. */
  keywords: Set<string>
  tuples: boolean
  /** All keywords are plain: what the meta-schema accepts will compile. */
  plain: boolean
  /** References that leave the schema. */
  remote: string[]
  /** It asks for Ajv's asynchronous validation, which would answer before it has validated. */
  asynchronous: boolean
}

/** Walks over a schema; it must not be nested without bound, which the reading of manifests sees to. */
export function surveySchema (schema: object): SchemaSurvey {
  const survey: SchemaSurvey = { nodes: 0, patterns: new Set(), defaults: false, keywords: new Set(), tuples: false, plain: true, remote: [], asynchronous: false }
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
  for (const [keyword, value] of Object.entries(schema)) {
    note(keyword, value, survey)
    if (dataKeywords.has(keyword)) continue
    if (!mapKeywords.has(keyword)) visit(value, survey)
    else for (const subschema of Object.values(Object(value) as object)) visit(subschema, survey)
  }
}

function note (keyword: string, value: unknown, survey: SchemaSurvey): void {
  survey.keywords.add(keyword)
  if (!plainKeywords.has(keyword)) survey.plain = false
  if (keyword === 'items' && Array.isArray(value)) survey.tuples = true
  // Ajv refuses an empty list; the meta-schemas of 2019-09 and 2020-12 do not.
  if (keyword === 'enum' && Array.isArray(value) && value.length === 0) survey.plain = false
  if (keyword === 'default') survey.defaults = true
  if (keyword === '$async') survey.asynchronous = true
  if (keyword === 'pattern' && typeof value === 'string') survey.patterns.add(value)
  if (keyword === 'patternProperties') for (const name of Object.keys(Object(value) as object)) survey.patterns.add(name)
  if (referenceKeywords.has(keyword) && typeof value === 'string' && !value.startsWith('#')) survey.remote.push(value)
}
