import { numberText, WrittenNumber, writtenAs, writtenLike } from '../json/written.ts'

/** @param field the name of the field that has the text */
type Change = (text: string, field?: string) => string

/**
 * A JSON value whose texts are changed, at any depth, and the names of fields as well; the value itself where none changes. Digits are
 * a text too: in place of a number that changes is a text.
 */
export function mapTexts (value: unknown, change: Change): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value === 'number') return mapNumber(value, String(value), change)
  if (value instanceof WrittenNumber) return mapNumber(value, value.text, change)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? mapItems(value, change) : mapMembers(value, change)
}

function mapNumber<Value extends number | WrittenNumber> (value: Value, text: string, change: Change): Value | string {
  const [asWritten, plain] = [change(text), String(Number(text))]
  // `4e9` is 4000000000.
  const asPlain = plain === text ? plain : change(plain)
  if (asWritten !== text) return asWritten
  return asPlain === plain ? value : asPlain
}

function mapItems (items: readonly unknown[], change: Change): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [at, item] of items.entries()) {
    const written = typeof item === 'number' ? numberText(items, at) : undefined
    const newer = typeof item === 'number' && written !== undefined ? mapNumber(item, written, change) : mapTexts(item, change)
    if (newer === item) continue
    copy ??= [...items]
    copy[at] = newer
  }
  return copy === undefined ? items : writtenLike(copy, items)
}

function mapMembers (value: object, change: Change): object {
  const names = Object.keys(value)
  let copy: Array<[string, unknown]> | undefined
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? ''
    const item: unknown = Reflect.get(value, name)
    const inField = (text: string): string => change(text, name)
    const newer = typeof item === 'number' ? mapNumber(item, numberText(value, name) ?? String(item), inField) : typeof item === 'string' ? inField(item) : mapTexts(item, change)
    const member: [string, unknown] = [change(name), newer]
    if (member[0] !== name || member[1] !== item) copy ??= names.slice(0, at).map(name => [name, Reflect.get(value, name)])
    copy?.push(member)
  }
  return copy === undefined ? value : writtenAs(Object.fromEntries(copy), value, name => change(name))
}
