import type { Redact } from '@toolyard/runtime'
import { holdsWritten, lostText, mapTexts, readJson, writeThrough } from '@toolyard/contract/terms'

export interface Shown {
  text: (text: string) => string
  texts: (texts: readonly string[]) => string[]
  value: (value: unknown) => unknown
}

/** Longest secret that is hidden where a text is cut, in UTF-16 units. */
const secretChars = 4_096

/**
 * Hides secrets, and cuts what is too large for a page.
 *
 * @param redact replaces secrets in a text
 * @param maxChars what is left of a text, or of a value's JSON, in UTF-16 units
 */
export function createShown (redact: Redact, maxChars: number): Shown {
  // A secret that the cut goes through is hidden before it is cut.
  const texts = (whole: readonly string[]): string[] =>
    redact(whole.map(text => text.slice(0, maxChars + secretChars))).map(text => cut(text, maxChars))
  const text = (whole: string): string => texts([whole])[0] ?? ''
  return {
    text,
    texts,
    value: value => {
      if (value === undefined) return undefined
      const json = writeThrough(value)
      if (json.length > maxChars) return { cut: true, chars: json.length, beginning: text(json) }
      const plain = holdsWritten(value) ? withTexts(readJson(json)) : value
      // Names are redacted too: a tool's output may have anything in them.
      const redacted = redact(textsIn(plain))
      let at = 0
      return mapTexts(plain, () => redacted[at++] ?? '')
    }
  }
}

/** A copy with texts in place of numbers whose digits the page would lose. */
function withTexts (value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const shown = (name: string | number, item: unknown): unknown => lostText(value, name) ?? withTexts(item)
  if (Array.isArray(value)) return value.map((item, at) => shown(at, item))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(name, item)]))
}

/** The texts in a value, in the order in which `mapTexts` comes to them. */
function textsIn (value: unknown): string[] {
  const texts: string[] = []
  mapTexts(value, text => {
    texts.push(text)
    return text
  })
  return texts
}

function cut (text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}…`
}
