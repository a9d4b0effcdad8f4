import { WrittenNumber, writtenAs, writtenLike } from '../json/written.ts'

/** A JSON value whose texts are changed, at any depth, and the names of fields as well; the value itself where none changes. */
export function mapTexts (value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return value
  return Array.isArray(value) ? mapItems(value, change) : mapMembers(value, change)
}

function mapItems (items: readonly unknown[], change: (text: string) => string): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [at, item] of items.entries()) {
    const mapped = mapTexts(item, change)
    if (mapped === item) continue
    copy ??= [...items]
    copy[at] = mapped
  }
  return copy === undefined ? items : writtenLike(copy, items)
}

function mapMembers (value: object, change: (text: string) => string): object {
  const names = Object.keys(value)
  let copy: Array<[string, unknown]> | undefined
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? ''
    const item: unknown = Reflect.get(value, name)
    const member: [string, unknown] = [change(name), mapTexts(item, change)]
    if (member[0] !== name || member[1] !== item) copy ??= names.slice(0, at).map(name => [name, Reflect.get(value, name)])
    copy?.push(member)
  }
  return copy === undefined ? value : writtenAs(Object.fromEntries(copy), value, change)
}
