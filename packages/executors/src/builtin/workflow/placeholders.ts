import { around, limits, withNumbers, writeJson, WrittenNumber, writtenLike } from '@toolyard/contract/terms'
import { partsOf } from '../../run/json.ts'

/** Values of placeholders. */
export interface Scope {
  params: Readonly<Record<string, unknown>>
  outputs: ReadonlyMap<string, unknown>
}

/** A placeholder that can't be replaced; the message says where it is and why. */
export class PlaceholderError extends Error {
  override readonly name = 'PlaceholderError'
}

interface Placeholder {
  /** As it is written, with its braces. */
  text: string
  /** The parameter or step. */
  name: string
  /** Names and indexes that lead into its value. */
  way: string[]
}

type Part = string | Placeholder

const pattern = /\$\$\{|\$\{([^}]*)\}?/g
const inside = /^([A-Za-z_][\w-]*)((?:\.[\w-]+|\[\d+\]|\["[^"}]*"\])*)$/
const wayParts = /\.([\w-]+)|\[(\d+)\]|\["([^"}]*)"\]/g
/** Names that an error lists. */
const listed = 20

/**
 * Replaces the placeholders in a value, at any depth. A text that is one placeholder becomes its value, of whatever
 * type; in a longer text, values that are no texts are written as JSON. `$${` stands for the characters `${`.
 *
 * @param at where the value is, for errors: `step 'a': arguments`.
 * @param maxParts objects, lists and fields that the result may hold.
 * @throws PlaceholderError for a placeholder that names nothing, and for a result of more than 1 MiB or so many parts.
 */
export function substitute (value: unknown, scope: Scope, at: string, maxParts: number): unknown {
  const result = walk(withNumbers(value), { scope, left: limits.bodyBytes }, at)
  if (partsOf(result, maxParts) > maxParts) throw new PlaceholderError(`${at}: more than ${maxParts} objects, lists and fields once its placeholders are replaced: name a part of the output`)
  return result
}

/** The names that the placeholders in a value begin with, at any depth, each with its place. */
export function namesIn (value: unknown, at: string): NamedPlace[] {
  const found: NamedPlace[] = []
  findNames(value, () => at, found)
  return found
}

interface NamedPlace {
  name: string
  text: string
  at: string
}

/** A value may have a hundred thousand others in it: their places are put together only where they are told. */
function findNames (value: unknown, place: () => string, found: NamedPlace[]): void {
  if (typeof value === 'string') {
    if (!value.includes('${')) return
    const at = place()
    for (const part of textParts(value, at)) if (typeof part !== 'string') found.push({ name: part.name, text: part.text, at })
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) findNames(item, () => `${place()}[${index}]`, found)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) findNames(item, () => `${place()}.${key}`, found)
  }
}

interface Work {
  scope: Scope
  /** UTF-16 units of JSON that may still be written. */
  left: number
}

function walk (value: unknown, work: Work, at: string): unknown {
  if (typeof value === 'string') return replace(value, work, at)
  if (Array.isArray(value)) return around(value.map((item, index) => walk(item, work, `${at}[${index}]`)))
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return value
  const entries = Object.entries(value).map(([key, item]) => [key, walk(item, work, placeBelow(value, key, at))])
  return around(writtenLike(Object.fromEntries(entries), value))
}

function replace (text: string, work: Work, at: string): unknown {
  const parts = textParts(text, at)
  const [only] = parts
  if (parts.length === 1 && typeof only === 'object') {
    const value = valueOf(only, work.scope, at)
    spend(work, writeJson(value).length, at)
    return value
  }
  return parts.map(part => {
    const value = typeof part === 'string' ? part : valueOf(part, work.scope, at)
    const written = typeof value === 'string' ? value : writeJson(value)
    spend(work, written.length, at)
    return written
  }).join('')
}

/** A few placeholders of large outputs would multiply them. */
function spend (work: Work, length: number, at: string): void {
  work.left -= length
  if (work.left < 0) throw new PlaceholderError(`${at}: longer than ${limits.bodyBytes} characters once its placeholders are replaced: name a part of the output`)
}

function textParts (text: string, at: string): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const before = text.slice(end, match.index)
    if (before !== '') parts.push(before)
    end = match.index + match[0].length
    parts.push(match[0] === '$${' ? '${' : placeholder(match[0], match[1] ?? '', at))
  }
  if (end < text.length || parts.length === 0) parts.push(text.slice(end))
  return parts
}

function placeholder (text: string, content: string, at: string): Placeholder {
  const [, name, way = ''] = inside.exec(content.trim()) ?? []
  if (name === undefined || !text.endsWith('}')) {
    throw new PlaceholderError(`${at}: '${text.slice(0, 80)}' is no placeholder (write \${param}, \${step.field}, \${step["any name"]} or \${step.list[0]}, and $\${ for the characters themselves)`)
  }
  return { text, name, way: [...way.matchAll(wayParts)].map(([, field, index, named]) => field ?? index ?? named ?? '') }
}

function valueOf ({ text, name, way }: Placeholder, { params, outputs }: Scope, at: string): unknown {
  const isStep = outputs.has(name)
  if (!isStep && !Object.hasOwn(params, name)) throw new PlaceholderError(`${at}: '${text}' names no parameter and no step`)
  let value: unknown = isStep ? outputs.get(name) : params[name]
  for (const step of way) {
    if (typeof value !== 'object' || value === null || value instanceof WrittenNumber || !Object.hasOwn(value, step) || (Array.isArray(value) && !/^\d+$/.test(step))) {
      throw new PlaceholderError(`${at}: '${text}': ${isStep ? `the output of step '${name}'` : `the parameter '${name}'`} has no '${step}' there${describeValue(value)}`)
    }
    value = Reflect.get(value, step)
  }
  return value
}

function describeValue (value: unknown): string {
  if (value instanceof WrittenNumber) return ' (a number)'
  if (Array.isArray(value)) return ` (a list of ${value.length})`
  if (typeof value !== 'object' || value === null) return ` (${value === null ? 'null' : `a ${typeof value}`})`
  const keys = Object.keys(value)
  return ` (known: ${keys.slice(0, listed).join(', ')}${keys.length > listed ? ', …' : ''})`
}

function placeBelow (value: object, key: string, at: string): string {
  return Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`
}
