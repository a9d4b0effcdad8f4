/*
 * Numbers of JSON as they were written, compared as such: not as the doubles that are nearest to them.
 */

/** The value is `digits` times ten to the power of `exponent`. */
interface Decimal {
  negative: boolean
  /** Without zeros at either end; empty for zero. */
  digits: string
  exponent: number
}

export function losesValue (text: string): boolean {
  // A double holds any 15 digits.
  return (text.length > 15 || /[eE]/.test(text)) && compareNumbers(text, String(Number(text))) !== 0
}

export function isWhole (text: string): boolean {
  return decimalOf(text).exponent >= 0
}

/** Compares two numbers as they are written: below zero where the first is less, above where it is greater. */
export function compareNumbers (first: string, second: string): number {
  const [left, right] = [decimalOf(first), decimalOf(second)]
  const sign = signOf(left)
  if (sign !== signOf(right)) return sign - signOf(right)
  return sign * compareSizes(left, right)
}

/** Whether a number that was written is a multiple of a double; undefined where that takes too long to find out. */
export function isMultiple (text: string, of: number): boolean | undefined {
  const [left, right] = [decimalOf(text), decimalOf(String(of))]
  const shift = left.exponent - right.exponent
  if (Math.abs(shift) + left.digits.length > mostDigits) return undefined
  const [dividend, divisor] = shift >= 0
    ? [BigInt(left.digits || '0') * 10n ** BigInt(shift), BigInt(right.digits)]
    : [BigInt(left.digits || '0'), BigInt(right.digits) * 10n ** BigInt(-shift)]
  return dividend % divisor === 0n
}

/** More take milliseconds to divide. */
const mostDigits = 2_000

function signOf ({ negative, digits }: Decimal): number {
  return digits === '' ? 0 : negative ? -1 : 1
}

function compareSizes (left: Decimal, right: Decimal): number {
  const order = left.digits.length + left.exponent - right.digits.length - right.exponent
  if (order !== 0) return order
  const length = Math.max(left.digits.length, right.digits.length)
  const [one, other] = [left.digits.padEnd(length, '0'), right.digits.padEnd(length, '0')]
  return one < other ? -1 : one > other ? 1 : 0
}

function decimalOf (text: string): Decimal {
  const negative = text.startsWith('-')
  const e = text.search(/[eE]/)
  const mantissa = text.slice(negative ? 1 : 0, e === -1 ? undefined : e)
  const dot = mantissa.indexOf('.')
  const all = dot === -1 ? mantissa : mantissa.slice(0, dot) + mantissa.slice(dot + 1)
  let [start, end] = [0, all.length]
  while (all[start] === '0') start++
  while (end > start && all[end - 1] === '0') end--
  const fraction = dot === -1 ? 0 : mantissa.length - dot - 1
  const written = e === -1 ? 0 : Number(text.slice(e + 1))
  const digits = all.slice(start, end)
  return { negative, digits, exponent: digits === '' ? 0 : written - fraction + all.length - end }
}
