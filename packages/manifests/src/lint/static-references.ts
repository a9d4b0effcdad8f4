import { fragmentToken, isRecord } from '@toolyard/contract/terms'
import { subschemasOf, withAllSubschemas } from '../schema/form/subschemas.ts'
import { targetsIn } from '../schema/form/targets.ts'
import type { JsonSchema } from '../tool/tool.ts'

const dynamic = ['$recursiveRef', '$recursiveAnchor', '$dynamicRef', '$dynamicAnchor'] as const

/**
 * A schema without references that depend on the way to them: each leads to where it leads in this schema alone. Anthropic refuses the
 * `$recursiveAnchor` of 2019-09, which is something else in 2020-12, and Gemini reads none of them. The schema is not changed.
 *
 * @param changes takes what was changed, as ends of a sentence.
 */
export function withStaticReferences (schema: JsonSchema, changes: Set<string>): JsonSchema {
  const subschemas = subschemasOf(schema)
  if (!subschemas.some(({ node }) => dynamic.some(keyword => keyword in node))) return schema
  changes.add('a dynamic reference is written as a plain one')
  const targetOf = targetsIn(schema)
  const pointers = new Map(subschemas.map(({ node, place }) => [node, `#${place.map(name => `/${fragmentToken(name)}`).join('')}`]))
  return withAllSubschemas(schema, node => {
    const { $recursiveRef: recursive, $recursiveAnchor: _, $dynamicRef: reference = recursive, $dynamicAnchor: __, ...rest } = node
    const target = typeof reference === 'string' ? targetOf(reference) : undefined
    const pointer = isRecord(target) ? pointers.get(target) : undefined
    return pointer === undefined ? rest : { $ref: pointer, ...rest }
  })
}
