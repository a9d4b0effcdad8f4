import { newKey } from './key.ts'

/** How a client reads and writes JSON, in place of its own way, such as with decimals of a library. */
export interface Json {
  parse: (text: string) => unknown
  stringify: (value: unknown) => string
}

/** Whole numbers beyond 2^53 are a `bigint`; any other number is what JavaScript makes of it. */
export const exactJson: Json = { parse: parseExactly, stringify: stringifyExactly }

/** Whether a number of 16 digits or more may be in a JSON, outside of its texts. */
const mayBeLarge = /(?:^|[[:,])\s*-?\d{16}/
/** Texts and numbers, each as a whole: a fraction has digits that look like a number of their own. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const wholeNumber = /^-?\d{16,}$/

function parseExactly (text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!mayBeLarge.test(text)) return value
  const mark = markBeside(text)
  let found = false
  const marked = text.replace(tokens, token => {
    if (!wholeNumber.test(token) || Number.isSafeInteger(Number(token))) return token
    found = true
    return `"${mark}${token}"`
  })
  if (!found) return value
  return JSON.parse(marked, (_name, item: unknown) => typeof item === 'string' && item.startsWith(mark) ? BigInt(item.slice(mark.length)) : item) as unknown
}

function stringifyExactly (value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    const plain = JSON.stringify(value, (_name, item: unknown) => typeof item === 'bigint' ? 0 : item)
    // Something else can't be written.
    if (plain === undefined) throw error
    const mark = markBeside(plain)
    const json = JSON.stringify(value, (_name, item: unknown) => typeof item === 'bigint' ? `${mark}${item}` : item)
    return json.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
  }
}

/** A text that another one doesn't hold. Nobody can foresee it: a tool's output could hold each of a series of them. */
function markBeside (text: string): string {
  for (;;) {
    const mark = `bigint-${newKey()}:`
    if (!text.includes(mark)) return mark
  }
}
