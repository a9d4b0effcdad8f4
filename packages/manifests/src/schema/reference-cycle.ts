import { referenceKeywords } from './keywords.ts'

/**
 * The first circle of references that leads from a schema to itself for the same value, as the places on its way: no
 * validation by it ends. A schema that refers to itself for a property or an item is none.
 *
 * @param references those of the schema; each is looked at once.
 */
export function referenceCycle (schema: object, references: Iterable<string>): string[] | undefined {
  const ended = new Set<string>()
  for (const first of references) {
    const open = new Set([first])
    const way: Array<{ place: string, next: string[] }> = [{ place: first, next: followed(resolve(schema, first)) }]
    for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
      const place = last.next.pop()
      if (place === undefined) {
        ended.add(last.place)
        open.delete(last.place)
        way.pop()
        continue
      }
      if (open.has(place)) return [...[...open].slice([...open].indexOf(place)), place]
      if (ended.has(place)) continue
      open.add(place)
      way.push({ place, next: followed(resolve(schema, place)) })
    }
  }
  return undefined
}

/** The references that a validation follows for the same value, whatever it is. */
function followed (node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([keyword, value]: [string, unknown]) => {
    if (referenceKeywords.has(keyword)) return typeof value === 'string' ? [value] : []
    return keyword === 'allOf' && Array.isArray(value) ? value.flatMap(followed) : []
  })
}

/** What a JSON Pointer leads to; nothing where it leads nowhere, which compiling tells. */
function resolve (schema: object, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  let node: unknown = schema
  for (const part of reference.split('/').slice(1)) {
    const name = nameOf(part)
    node = typeof node === 'object' && node !== null && Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined
  }
  return node
}

function nameOf (part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}
