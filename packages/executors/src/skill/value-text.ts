import { Buffer } from 'node:buffer'

/** Above it, and down to its negative, whole numbers are not written in full: the largest unsigned integer of 64 bits. */
const maxInFull = 2 ** 64
/** Below it, and up to its negative, fractions are written with an exponent. */
const minInFull = 1e-5

/**
 * A parameter's value as an element of argv.
 *
 * Numbers are written as serde writes them, as far as JSON.parse leaves that open: `1.0` is `1`, and what needs
 * more than 53 bits is the nearest number.
 */
export function valueText (value: unknown): string {
  return typeof value === 'number' ? numberText(value) : String(value)
}

function numberText (value: number): string {
  const size = Math.abs(value)
  const inFull = Number.isInteger(value) ? size < maxInFull : size >= minInFull
  return inFull ? String(value) : value.toExponential().replace('+', '')
}

/** Whether a value counts as true for `flagifboolean`: `true`, that word in any case, or a whole number but 0. */
export function isTrue (value: unknown): boolean {
  if (typeof value === 'string') return value.toLowerCase() === 'true'
  return value === true || (Number.isInteger(value) && value !== 0)
}

/** Literal `\n` and `\t` become what they stand for; nothing else is an escape. */
export function normalizeNewlines (text: string): string {
  if (!text.includes('\\')) return text
  // Hundreds of thousands of them take a tenth of a second as texts. No byte of a longer character is a backslash.
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const escape = bytes[at] === backslash ? escapes.get(bytes[at + 1] ?? 0) : undefined
    if (escape !== undefined) at++
    bytes[length++] = escape ?? bytes[at] ?? 0
  }
  return bytes.toString('utf8', 0, length)
}

const backslash = 0x5c
/** By the byte of their letter. */
const escapes = new Map([[0x6e, 0x0a], [0x74, 0x09]])
