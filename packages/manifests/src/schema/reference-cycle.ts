import { isRecord } from '@toolyard/contract/terms'
import { referenceKeywords } from './form/subschemas.ts'
import { targetsIn } from './form/targets.ts'

/**
 * The first circle of references that leads from a schema to itself for the same value, as the places on its way: no
 * validation by it ends. A schema that refers to itself for a property or an item is none.
 *
 * @param references those of the schema; each is looked at once.
 */
export function referenceCycle (schema: object, references: Iterable<string>): string[] | undefined {
  const ended = new Set<string>()
  const targetOf = targetsIn(schema)
  const known = new Map<unknown, string[]>()
  const followedFrom = (reference: string): string[] => {
    const node = targetOf(reference)
    const next = known.get(node) ?? followed(node)
    known.set(node, next)
    return [...next]
  }
  for (const first of references) {
    const open = new Set([first])
    const way: Array<{ place: string, next: string[] }> = [{ place: first, next: followedFrom(first) }]
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
      way.push({ place, next: followedFrom(place) })
    }
  }
  return undefined
}

const alternatives: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf'])
const conditions: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else'])
const dependencies: ReadonlySet<string> = new Set(['dependentSchemas', 'dependencies'])

/** The references that a validation may follow for the same value: some value takes each of these ways. */
function followed (node: unknown): string[] {
  if (!isRecord(node)) return []
  return Object.entries(node).flatMap(([keyword, value]: [string, unknown]) => {
    if (referenceKeywords.has(keyword)) return typeof value === 'string' ? [value] : []
    if (alternatives.has(keyword) && Array.isArray(value)) return value.flatMap(followed)
    if (conditions.has(keyword)) return followed(value)
    return dependencies.has(keyword) && isRecord(value) ? Object.values(value).flatMap(followed) : []
  })
}
