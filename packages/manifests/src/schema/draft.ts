import { Ajv, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** The versions of JSON Schema that are understood. */
export type Draft = 'draft-07' | '2019-09' | '2020-12'
export type AnyAjv = Ajv | Ajv2019 | Ajv2020

const classes = { 'draft-07': Ajv, '2019-09': Ajv2019, '2020-12': Ajv2020 } as const
const drafts: ReadonlyMap<string, Draft> = new Map([
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12']
])

/** The draft that a schema names in `$schema`; draft-07 when it names none, undefined when it is not a known one. */
export function draftOf (schema: Record<string, unknown>): Draft | undefined {
  const name = schema['$schema']
  if (name === undefined) return 'draft-07'
  return typeof name === 'string' ? drafts.get(name.replace(/^https?:\/\//, '').replace(/#$/, '')) : undefined
}

/** A new Ajv for a draft. */
export function ajvFor (draft: Draft, options: Options): AnyAjv {
  return new classes[draft](options)
}
