import { isRecord, writtenLike } from '@toolyard/contract/terms'

/** Keywords whose value maps names to subschemas: the names are not keywords. */
export const mapKeywords: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'
])

/** Keywords whose value is data: nothing in it is a schema. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'example', 'examples', 'required', 'dependentRequired'])

export const referenceKeywords: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

/** A subschema, and where it stands: keywords, names and places in lists, from the start of the whole schema. */
export interface Subschema {
  node: Record<string, unknown>
  place: readonly string[]
  /** The one around it; undefined for the whole schema. */
  around: Subschema | undefined
}

/** All subschemas of a schema, itself the first; it must not be nested without bound. */
export function subschemasOf (schema: unknown): Subschema[] {
  const found: Subschema[] = []
  const visit = (value: unknown, place: readonly string[], around?: Subschema): void => {
    if (Array.isArray(value)) value.forEach((each, at) => { visit(each, [...place, String(at)], around) })
    if (!isRecord(value)) return
    const own = { node: value, place, around }
    found.push(own)
    for (const [keyword, inner] of Object.entries(value)) {
      if (dataKeywords.has(keyword) || typeof inner !== 'object') continue
      if (!mapKeywords.has(keyword) || !isRecord(inner)) visit(inner, [...place, keyword], own)
      else for (const [name, each] of Object.entries(inner)) visit(each, [...place, keyword, name], own)
    }
  }
  visit(schema, [])
  return found
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
