import { Ajv, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { SchemaSurvey } from './survey.ts'

/** The versions of JSON Schema that are understood. */
export type Draft = 'draft-07' | '2019-09' | '2020-12'
export type AnyAjv = Ajv | Ajv2019 | Ajv2020

const classes = { 'draft-07': Ajv, '2019-09': Ajv2019, '2020-12': Ajv2020 } as const
const drafts: ReadonlyMap<string, Draft> = new Map([
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12']
])

/** Says no version: it once meant the newest one. */
const newest = 'json-schema.org/schema'

/** Keywords that draft-07 doesn't know, and would ignore. */
const later = [
  'dependentRequired', 'dependentSchemas', 'maxContains', 'minContains', 'prefixItems', 'unevaluatedItems', 'unevaluatedProperties',
  '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef'
] as const

/**
 * The draft that a schema names in `$schema`; undefined when it is not a known one. Of one that names none, the draft
 * that knows its keywords: draft-07 where that does.
 */
export function draftOf (schema: Record<string, unknown>, { keywords, tuples }: Pick<SchemaSurvey, 'keywords' | 'tuples'>): Draft | undefined {
  const { $schema: written } = schema
  const name = typeof written === 'string' ? written.replace(/^https?:\/\//, '').replace(/#$/, '') : written
  if (name === undefined || name === newest) {
    if (!later.some(keyword => keywords.has(keyword))) return 'draft-07'
    return tuples || keywords.has('$recursiveRef') || keywords.has('$recursiveAnchor') ? '2019-09' : '2020-12'
  }
  return typeof name === 'string' ? drafts.get(name) : undefined
}

export function ajvFor (draft: Draft, options: Options): AnyAjv {
  return new classes[draft](options)
}
