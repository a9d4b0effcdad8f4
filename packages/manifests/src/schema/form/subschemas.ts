import { isRecord, orElse, pointerToken, writtenLike } from '@toolyard/contract/terms'

/** Keywords whose value maps names to subschemas: the names are not keywords. */
export const mapKeywords: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'
])

/** Keywords whose value is data: nothing in it is a schema. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'example', 'examples', 'required', 'dependentRequired'])

export const referenceKeywords: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

/** A subschema, and where it stands: from the start of the whole schema, as a pointer in a URI has it. */
export interface Subschema {
  node: Record<string, unknown>
  pointer: string
  /** The one around it; undefined for the whole schema. */
  around: Subschema | undefined
}

/** All subschemas of a schema, itself the first; it must not be nested without bound. */
export function * subschemasOf (value: unknown, pointer = '', around?: Subschema): Generator<Subschema> {
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) yield * subschemasOf(each, `${pointer}/${at}`, around)
    return
  }
  if (!isRecord(value)) return
  const own = { node: value, pointer, around }
  yield own
  for (const [keyword, inner] of Object.entries(value)) {
    if (dataKeywords.has(keyword) || typeof inner !== 'object') continue
    const place = `${pointer}/${token(keyword)}`
    if (!mapKeywords.has(keyword) || !isRecord(inner)) yield * subschemasOf(inner, place, own)
    else for (const [name, each] of Object.entries(inner)) yield * subschemasOf(each, `${place}/${token(name)}`, own)
  }
}

/** A copy with other subschemas in place of some. */
export function withSubschemas (value: unknown, others: ReadonlyMap<unknown, Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return writtenLike(value.map(each => withSubschemas(each, others)), value)
  if (!isRecord(value)) return value
  const node = others.get(value) ?? value
  return { ...node, ...Object.fromEntries(Object.entries(node).map(([name, each]) => [name, withSubschemas(each, others)])) }
}

/** A name with half a surrogate pair can't be written, and is a fault by itself. Most names are written as they are. */
function token (name: string): string {
  return /^\w+$/.test(name) ? name : orElse(() => encodeURIComponent(pointerToken(name)), name)
}
