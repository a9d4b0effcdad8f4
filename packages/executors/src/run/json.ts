import { limits, readWhole, WrittenNumber } from '@toolyard/contract/terms'

/** Every number matches that JavaScript may not hold; each run of digits is counted once. */
const mayBeTooLarge = /\d[eE]\+?\d\d|(?<!\d)\d{300}/

/** What most JSON doesn't have: then nothing more is looked for. */
const mayBeHalf = /\\u[dD][89a-fA-F]/
/** Each escape once: a whole surrogate pair, half of one, or another one. */
const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/g
const halfLength = '\\ud800'.length

/**
 * JSON whose texts are all Unicode: half a surrogate pair becomes U+FFFD. JavaScript leaves one where a text is cut inside an emoji, and
 * Python where the name of a file isn't UTF-8. Providers of models refuse a conversation that holds one from then on, and clients in
 * Python and Rust can't read the answer.
 */
export function wellFormed (json: string): string {
  return mayBeHalf.test(json) ? json.replace(escapes, escape => escape.length === halfLength ? '\\ufffd' : escape) : json
}

/**
 * Parses JSON that may be a tool's output, and makes its texts Unicode. Undefined for what is no JSON, is nested deeper than
 * `limits.outputDepth` (later readers of the value walk it recursively), or has a number that JavaScript can't hold, which would
 * become null.
 */
export function parseJson (json: string): { value: unknown } | undefined {
  const text = wellFormed(json)
  try {
    const value = readWhole(text)
    return isTooDeep(text) || (mayBeTooLarge.test(text) && holdsInfinity(value)) ? undefined : { value }
  } catch {
    return undefined
  }
}

/** Objects, lists and fields of a value; counting ends at the first one beyond `most`. */
export function partsOf (value: unknown, most = Infinity): number {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return 0
  const items: unknown[] = Object.values(value)
  let parts = Array.isArray(value) ? 1 : 1 + items.length
  for (const item of items) {
    if (parts > most) break
    parts += partsOf(item, most - parts)
  }
  return parts
}

function holdsInfinity (value: unknown): boolean {
  if (value instanceof WrittenNumber) return !Number.isFinite(value.toJSON())
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity)
}

/** Measured on the text, which is known to be valid: walking the value would itself need the stack. */
function isTooDeep (json: string): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const char = json[at]
    if (char === '"') at = endOfString(json, at)
    else if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') depth -= 1
    if (depth > limits.outputDepth) return true
  }
  return false
}

function endOfString (json: string, start: number): number {
  let at = start + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}
