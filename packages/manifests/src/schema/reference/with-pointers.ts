import { isRecord, orElse, pointerToken, writtenLike } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { manifestLimits } from '../../tool/limits.ts'
import { dataKeywords, mapKeywords } from './keyword-kinds.ts'

/**
 * The schema with a JSON pointer in place of each reference to an `$id` or an `$anchor` in it, and without those inner names:
 * models and most libraries follow pointers alone. TypeBox and tools that bundle schemas write such identifiers. A schema whose
 * references are pointers already is returned itself; what leads out of it stays as it is.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-9.3
 */
export function withPointers<Schema> (schema: Schema): Schema
export function withPointers (schema: unknown): unknown {
  if (!isRecord(schema) || isDeeperThan(manifestLimits.depth, schema)) return schema
  const places = [...placesIn(schema)]
  if (!places.some(usesIdentifier) || places.some(isDynamic)) return schema
  const pointers = namedPointers(places)
  return replaced(schema, new Map(places.map(place => [place.node, mended(place, pointers)])))
}

/** A subschema. */
interface Place {
  node: Record<string, unknown>
  /** From the start of the whole schema. */
  pointer: string
  /** The absolute URI of the schema with an identifier in which it stands. */
  base: string
}

/** Stands for the identifier of a schema that has none: references that are relative to it stay within it. */
const noIdentifier = 'schema:/'

function * placesIn (value: unknown, pointer = '', base = noIdentifier): Generator<Place> {
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) yield * placesIn(each, `${pointer}/${at}`, base)
    return
  }
  if (!isRecord(value)) return
  const own = isIdentifier(value['$id']) ? withoutFragment(absolute(value['$id'], base) ?? base) : base
  yield { node: value, pointer, base: own }
  for (const [keyword, inner] of Object.entries(value)) {
    const place = `${pointer}/${written(keyword)}`
    if (dataKeywords.has(keyword)) continue
    if (!mapKeywords.has(keyword) || !isRecord(inner)) yield * placesIn(inner, place, own)
    else for (const [name, each] of Object.entries(inner)) yield * placesIn(each, `${place}/${written(name)}`, own)
  }
}

function usesIdentifier ({ node: { $id: id, $ref: reference }, pointer }: Place): boolean {
  return (pointer !== '' && isIdentifier(id)) || (typeof reference === 'string' && !reference.startsWith('#'))
}

/** What such a reference leads to may depend on the way to it, which no pointer can say. */
function isDynamic ({ node }: Place): boolean {
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
  const named = pointers.get(withoutFragment(uri, 'empty'))
  if (named !== undefined) return `#${named}`
  const root = pointers.get(withoutFragment(uri))
  const fragment = uri.slice(withoutFragment(uri).length + 1)
  return root !== undefined && fragment.startsWith('/') ? `#${root}${fragment}` : undefined
}

function replaced (value: unknown, nodes: ReadonlyMap<unknown, Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return writtenLike(value.map(each => replaced(each, nodes)), value)
  if (!isRecord(value)) return value
  const node = nodes.get(value) ?? value
  return { ...node, ...Object.fromEntries(Object.entries(node).map(([name, each]) => [name, replaced(each, nodes)])) }
}

/** A name as a pointer in a URI has it; one with half a surrogate pair can't be written, and is a fault by itself. */
function written (name: string): string {
  return orElse(() => encodeURIComponent(pointerToken(name)), name)
}

/** An identifier that is a fragment only names a place of the schema around it. */
function isIdentifier (id: unknown): id is string {
  return typeof id === 'string' && !id.startsWith('#')
}

function absolute (reference: string, base: string): string | undefined {
  return orElse(() => new URL(reference, base).href, undefined)
}

function withoutFragment (uri: string, which: 'any' | 'empty' = 'any'): string {
  return uri.replace(which === 'any' ? /#.*$/s : /#$/, '')
}
