import { writtenAs, writtenLike, WrittenNumber } from '../json/written.ts'

/** A JSON value whose texts are changed, at any depth, and the names of fields as well. */
export function mapTexts (value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return writtenLike(value.map(item => mapTexts(item, change)), value)
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return value
  return writtenAs(Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)])), value, change)
}
