import { holdsWritten, isWritten, writtenOf, WrittenJson } from './written.ts'

/** Writes JSON as `JSON.stringify` does, with the numbers and the order that were read. */
export function writeJson (value: unknown): string {
  if (typeof value !== 'object' || value === null || !isWritten(value)) return JSON.stringify(value)
  if (value instanceof WrittenJson) return value.text
  return Array.isArray(value) ? writeList(value) : writeObject(value)
}

/** The same for people, in lines. */
export function prettyJson (value: unknown): string {
  if (typeof value !== 'object' || value === null || !isWritten(value)) return JSON.stringify(value, null, 2)
  if (value instanceof WrittenJson) return value.text
  const isList = Array.isArray(value)
  const lines = isList
    ? value.map((item, at) => numberOf(writtenOf(value)?.items?.[at], item) ?? prettyJson(item))
    : membersOf(value, prettyJson).map(([name, json]) => `${JSON.stringify(name)}: ${json}`)
  const inner = lines.map(line => `  ${line.replaceAll('\n', '\n  ')}`).join(',\n')
  return lines.length === 0 ? isList ? '[]' : '{}' : isList ? `[\n${inner}\n]` : `{\n${inner}\n}`
}

/** The same for a value that was made here: what was read may stand anywhere in it. */
export function writeThrough (value: unknown): string {
  return holdsWritten(value) ? writeParts(value) : JSON.stringify(value)
}

function writeParts (value: unknown): string {
  if (typeof value !== 'object' || value === null || isWritten(value)) return writeJson(value)
  if (Array.isArray(value)) return `[${value.map(item => writeParts(item) ?? 'null').join(',')}]`
  return `{${membersOf(value, writeParts).map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
}

function writeList (items: readonly unknown[]): string {
  const texts = writtenOf(items)?.items
  const parts = items.map((item, at) => numberOf(texts?.[at], item) ?? writeJson(item) ?? 'null')
  return `[${parts.join(',')}]`
}

function writeObject (value: object): string {
  return `{${membersOf(value, writeJson).map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
}

function membersOf (value: object, write: (value: unknown) => string | undefined): Array<[string, string]> {
  const { fields, order = [] } = writtenOf(value) ?? {}
  const parts: Array<[string, string]> = []
  for (const name of order.length === 0 ? Object.keys(value) : new Set([...order, ...Object.keys(value)])) {
    if (!Object.hasOwn(value, name)) continue
    const item: unknown = Reflect.get(value, name)
    const json = numberOf(fields?.get(name), item) ?? write(item)
    // An undefined value is no member.
    if (json !== undefined) parts.push([name, json])
  }
  return parts
}

/** A number may have been replaced since it was read. */
function numberOf (text: string | undefined, value: unknown): string | undefined {
  return text !== undefined && Object.is(Number(text), value) ? text : undefined
}
