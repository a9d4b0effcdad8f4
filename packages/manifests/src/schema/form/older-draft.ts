import { withAllSubschemas } from './subschemas.ts'

const draft07 = 'http://json-schema.org/draft-07/schema#'

/**
 * A schema of draft-04 or draft-06 as one of draft-07, which has all of their keywords: libraries of C#, Go and Java write such
 * ones. Other schemas are returned themselves.
 *
 * @see https://json-schema.org/draft-06/json-schema-release-notes
 */
export function fromOlderDraft (schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema: draft } = schema
  const [, version] = typeof draft === 'string' ? /^https?:\/\/json-schema\.org\/draft-0([46])\/schema#?$/.exec(draft) ?? [] : []
  if (version === undefined) return schema
  return { ...version === '6' ? schema : withAllSubschemas(schema, fromDraft04), $schema: draft07 }
}

function fromDraft04 (node: Record<string, unknown>): Record<string, unknown> {
  const { id, ...rest } = node
  return withExclusiveBounds(typeof id === 'string' ? { $id: id, ...rest } : node)
}

/** A bound that is said to be exclusive, by `true` beside it, as an exclusive bound. OpenAPI 3.0 writes such ones too. */
export function withExclusiveBounds (node: Record<string, unknown>): Record<string, unknown> {
  const result = { ...node }
  for (const [exclusive, bound] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']] as const) {
    if (typeof node[exclusive] !== 'boolean') continue
    delete result[exclusive]
    if (node[exclusive] !== true || node[bound] === undefined) continue
    result[exclusive] = node[bound]
    delete result[bound]
  }
  return result
}
