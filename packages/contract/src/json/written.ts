import { losesValue } from './decimal.ts'

/*
 * A double holds 15 digits, and a JavaScript object sorts keys that look like integers to the front. Values of JSON that lose
 * something that way are ordinary values that also know how they were written: objects and lists have it under this symbol.
 * Copies by spread keep it. What was changed since then is written as the value is now.
 */

const written = Symbol('written')

/** How the members of an object or list were written. All that it stands in has one as well, if only an empty one. */
export interface Written {
  /** The texts of numbers that JavaScript would write otherwise, by the name of their member. */
  fields?: Map<string, string>
  /** The same of a list. A `Map` of 100,000 takes four times as long. */
  items?: Array<string | undefined>
  /** The names in their order, where JavaScript has another one. */
  order?: string[]
}

/** A value whose JSON is known, for who only passes it on: a large one takes up much more memory than its text. */
export class WrittenJson {
  readonly text: string

  constructor (text: string) {
    this.text = text
  }

  /** For who doesn't know better. */
  toJSON (): unknown {
    return JSON.parse(this.text)
  }
}

/** A number that is no member of anything, such as an output, and that JavaScript would write otherwise. */
export class WrittenNumber extends WrittenJson {
  override toJSON (): number {
    return Number(this.text)
  }
}

/** How a value was written; undefined for what JavaScript writes in the same way. */
export function writtenOf (value: unknown): Written | undefined {
  return typeof value === 'object' && value !== null ? (value as { [written]?: Written })[written] : undefined
}

/** Whether JavaScript would write anything in a value otherwise than it was written. */
export function holdsWritten (value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (isWritten(value)) return true
  if (Array.isArray(value)) return value.some(holdsWritten)
  // A list of the values would take more time than most of them do.
  for (const name in value) if (holdsWritten(Reflect.get(value, name))) return true
  return false
}

/** Whether JavaScript would write a value otherwise than it was written. */
export function isWritten (value: unknown): boolean {
  return typeof value === 'object' && value !== null && (written in value || value instanceof WrittenJson)
}

export function setWritten (value: object, how: Written): void {
  Reflect.set(value, written, how)
}

/** Lets an object or list that was made here know that members of it were written otherwise. */
export function around<Value extends object> (value: Value): Value {
  if (Array.isArray(value) ? value.some(isWritten) : hasWritten(value)) setWritten(value, { ...writtenOf(value) })
  return value
}

/** A list of the values would take more time than most of them do. */
function hasWritten (value: object): boolean {
  for (const name in value) if (isWritten(Reflect.get(value, name))) return true
  return false
}

/** Lets a copy of an object or list be written as that was, where its members are still the same. */
export function writtenLike<Value extends object> (copy: Value, original: object): Value {
  const how = writtenOf(original)
  if (how !== undefined) setWritten(copy, how)
  return copy
}

/** The same for a copy of an object whose members may have other names. */
export function writtenAs<Value extends object> (copy: Value, original: object, nameOf: (name: string) => string): Value {
  const how = writtenOf(original)
  if (how === undefined) return copy
  const { fields, order } = how
  setWritten(copy, {
    ...(fields !== undefined && { fields: new Map([...fields].map(([name, text]) => [nameOf(name), text])) }),
    ...(order !== undefined && { order: order.map(nameOf) })
  })
  return copy
}

/** How a number of an object or list was written, as long as it is still the same number. */
export function numberText (container: unknown, name: string | number): string | undefined {
  const how = writtenOf(container)
  const text = typeof name === 'number' ? how?.items?.[name] : how?.fields?.get(name)
  return text !== undefined && Object.is(Reflect.get(Object(container), name), Number(text)) ? text : undefined
}

/** The same of a number that a double can't hold. */
export function lostText (container: unknown, name: string | number): string | undefined {
  const how = writtenOf(container)
  const text = typeof name === 'number' ? how?.items?.[name] : how?.fields?.get(name)
  return text !== undefined && losesValue(text) ? numberText(container, name) : undefined
}

/** A copy in which numbers that JavaScript would write otherwise are a `WrittenNumber` each, for who takes them out one by one. */
export function withNumbers<Value> (value: Value): Value
export function withNumbers (value: unknown): unknown {
  if (!isWritten(value) || value instanceof WrittenNumber || typeof value !== 'object' || value === null) return value
  const numberOr = (name: string | number, item: unknown): unknown => {
    const text = numberText(value, name)
    return text === undefined ? withNumbers(item) : new WrittenNumber(text)
  }
  return writtenLike(Array.isArray(value)
    ? value.map((item, at) => numberOr(at, item))
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, numberOr(name, item)])), value)
}
