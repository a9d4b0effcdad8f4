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

type Schema = Record<string, unknown>

/** A copy with what `change` makes of each subschema right within it; `property` is the name of one of its `properties`. */
export function withSubschemas (schema: Schema, change: (each: Schema, property?: string) => unknown): Schema {
  const changed = (value: unknown, property?: string): unknown => {
    if (Array.isArray(value)) return writtenLike(value.map(each => changed(each, property)), value)
    return isRecord(value) ? change(value, property) : value
  }
  return writtenLike(Object.fromEntries(Object.entries(schema).map(([keyword, value]) => {
    if (dataKeywords.has(keyword)) return [keyword, value]
    if (!mapKeywords.has(keyword) || !isRecord(value)) return [keyword, changed(value)]
    const members = Object.entries(value).map(([name, each]) => [name, changed(each, keyword === 'properties' ? name : undefined)] as const)
    return [keyword, writtenLike(Object.fromEntries(members), value)]
  })), schema)
}

/** A copy with what `change` makes of each of its subschemas, itself the first. */
export function withAllSubschemas (schema: Schema, change: (each: Schema) => Schema): Schema {
  return withSubschemas(change(schema), each => withAllSubschemas(each, change))
}

/** A name with half a surrogate pair can't be written, and is a fault by itself. Most names are written as they are. */
function token (name: string): string {
  return /^\w+$/.test(name) ? name : orElse(() => encodeURIComponent(pointerToken(name)), name)
}
