import { fragmentToken, orElse } from '@toolyard/contract/terms'
import { subschemasOf, withAllSubschemas, type Subschema } from './subschemas.ts'

/**
 * The schema with a JSON pointer in place of each reference to an `$id` or an `$anchor` in it, and without those inner names, which
 * most readers don't follow. TypeBox and tools that bundle schemas write them. A schema whose references are pointers anyway is
 * returned itself; what leads out of it stays as it is.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-9.3
 */
export function withPointers (schema: Record<string, unknown>): Record<string, unknown> {
  const subschemas = subschemasOf(schema)
  if (!subschemas.some(usesIdentifier) || subschemas.some(isDynamic)) return schema
  const places = placesOf(subschemas)
  const pointers = namedPointers(places)
  const others = new Map(places.map(place => [place.node, mended(place, pointers)]))
  return withAllSubschemas(schema, node => others.get(node) ?? node)
}

interface Place {
  node: Record<string, unknown>
  /** As one in a URI. */
  pointer: string
  /** The absolute URI of the schema with an identifier in which it stands. */
  base: string
}

/** Stands for the identifier of a schema that has none: references that are relative to it stay within it. */
const noIdentifier = 'schema:/'

function placesOf (subschemas: readonly Subschema[]): Place[] {
  const bases = new Map<Subschema | undefined, string>([[undefined, noIdentifier]])
  return subschemas.map(subschema => {
    const { node: { $id: id }, around } = subschema
    const outer = bases.get(around) ?? noIdentifier
    const base = isIdentifier(id) ? withoutFragment(absolute(id, outer) ?? outer) : outer
    bases.set(subschema, base)
    return { node: subschema.node, pointer: subschema.place.map(name => `/${fragmentToken(name)}`).join(''), base }
  })
}

function usesIdentifier ({ node: { $id: id, $ref: reference }, around }: Subschema): boolean {
  return (around !== undefined && isIdentifier(id)) || (typeof reference === 'string' && !/^#(?:\/|$)/.test(reference))
}

/** What such a reference leads to may depend on the way to it, which no pointer can say. */
function isDynamic ({ node }: Subschema): boolean {
  return '$dynamicRef' in node || '$recursiveRef' in node
}

/** By absolute URIs, with an anchor as their fragment. */
function namedPointers (places: readonly Place[]): ReadonlyMap<string, string> {
  return new Map(places.flatMap(({ node: { $id: id, $anchor: anchor }, pointer, base }) => {
    const start: Array<[string, string]> = pointer === '' || isIdentifier(id) ? [[base, pointer]] : []
    if (typeof anchor === 'string') start.push([`${base}#${anchor}`, pointer])
    // Drafts before 2019-09 name a place so.
    if (typeof id === 'string' && id.startsWith('#')) start.push([base + id, pointer])
    return start
  }))
}

function mended ({ node, pointer, base }: Place, pointers: ReadonlyMap<string, string>): Record<string, unknown> {
  const { $id: id, $anchor: _, $ref: reference, ...rest } = node
  return {
    ...pointer === '' && id !== undefined && { $id: id },
    ...reference !== undefined && { $ref: typeof reference === 'string' ? pointerTo(reference, base, pointers) ?? reference : reference },
    ...rest
  }
}

/** Undefined for what is outside of the schema. */
function pointerTo (reference: string, base: string, pointers: ReadonlyMap<string, string>): string | undefined {
  const uri = absolute(reference, base)
  if (uri === undefined) return undefined
  const root = withoutFragment(uri)
  const fragment = uri.slice(root.length + 1)
  const isPointer = fragment === '' || fragment.startsWith('/')
  const start = pointers.get(isPointer ? root : `${root}#${orElse(() => decodeURIComponent(fragment), fragment)}`)
  return start === undefined ? undefined : `#${start}${isPointer ? fragment : ''}`
}

/** An identifier that is a fragment only names a place of the schema around it. */
function isIdentifier (id: unknown): id is string {
  return typeof id === 'string' && !id.startsWith('#')
}

function absolute (reference: string, base: string): string | undefined {
  return orElse(() => new URL(reference, base).href, undefined)
}

function withoutFragment (uri: string): string {
  return uri.replace(/#.*$/s, '')
}
