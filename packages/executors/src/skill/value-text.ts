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

/** Literal `\n`, then literal `\t`, become what they stand for; nothing else is an escape. */
export function normalizeNewlines (text: string): string {
  // `replaceAll` takes six times as long where there are hundreds of thousands.
  return text.split('\\n').join('\n').split('\\t').join('\t')
}
