import { isRecord, limits } from '@toolyard/contract'

const tooDeep = `nests deeper than ${limits.bodyDepth} levels`
const tooMany = `holds more than ${limits.bodyParts} objects, lists and fields: send less at once, or in a file`

/** The parser's words without the part of the body that they quote. Its token may be half of a character. */
export function syntaxError ({ message }: Error): string {
  return message.replace(/[,:] (?:\.\.\.)?"[^]*"(?:\.\.\.)? is not valid JSON$/, '').replace(/[\ud800-\udfff]/u, '\ufffd')
}

/**
 * Counts the objects, lists and named fields of a JSON text before it is parsed, since that is what takes its time. Of a
 * text that is no JSON the count may be wrong.
 *
 * @returns the number, or the end of a sentence that says which bound the text goes beyond.
 */
export function excessOf (text: string, mostParts: number, mostLevels: number): number | string {
  let parts = 0
  for (let at = 0, depth = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = endOfString(text, at)
    else if (char === ']' || char === '}') depth -= 1
    else if (char === '[' || char === '{') depth += 1
    else if (char !== ':') continue
    if (char !== '"' && char !== ']' && char !== '}') parts += 1
    // An empty list in the last level is let through by who looks at the values.
    if (depth > mostLevels + 1) return tooDeep
    if (parts > mostParts) return tooMany
  }
  return parts
}

function endOfString (text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

/** A key that merging code takes for a prototype. */
export const poisoned = 'holds a key __proto__, or constructor with prototype in it, which nothing here takes'

/** Faults that are told by who looks at the values. */
interface Tolerance {
  largeNumbers?: boolean | undefined
  poison?: boolean
}

/** The fault of a JSON value, as the end of a sentence; undefined where there is none. */
export function problemOf (value: unknown, levels: number, takes: Tolerance = {}): string | undefined {
  if (takes.largeNumbers !== true && (value === Infinity || value === -Infinity)) return 'holds a number that is too large for any program to hold: send it as a text, in quotes'
  if (!Array.isArray(value) && !isRecord(value)) return undefined
  if (takes.poison !== true && mayPoison(value)) return poisoned
  // For a large object, Object.values takes four times as long.
  if (Array.isArray(value)) {
    if (levels === 0 && value.length > 0) return tooDeep
    for (const item of value as unknown[]) {
      const problem = problemOf(item, levels - 1, takes)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  for (const name in value) {
    if (levels === 0) return tooDeep
    const problem = problemOf(value[name], levels - 1, takes)
    if (problem !== undefined) return problem
  }
  return undefined
}

function mayPoison (item: object): boolean {
  if (Object.hasOwn(item, '__proto__')) return true
  const inner = Object.hasOwn(item, 'constructor') ? item.constructor as unknown : undefined
  return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')
}
