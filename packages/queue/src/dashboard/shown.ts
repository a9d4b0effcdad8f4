import type { Redact } from '@toolyard/runtime'
import { losesValue, readJson, writeThrough, firstChars } from '@toolyard/contract/terms'

export interface Shown {
  texts: (texts: readonly string[]) => string[]
  value: (value: unknown) => unknown
}

/** Longest secret that is hidden where a text is cut, in UTF-16 units. */
const secretChars = 4_096
/** Texts, names among them, and numbers of a JSON. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/**
 * Hides secrets, and cuts what is too large for a page.
 *
 * @param redact replaces secrets in a text
 * @param maxChars what is left of a text, or of a value's JSON, in UTF-16 units
 */
export function createShown (redact: Redact, maxChars: number): Shown {
  // A secret that the cut goes through is hidden before it is cut.
  const texts = (whole: readonly string[]): string[] =>
    redact(whole.map(text => text.slice(0, maxChars + secretChars))).map(text => text.length <= maxChars ? text : `${firstChars(text, maxChars)}…`)
  return {
    texts,
    value: value => {
      if (value === undefined) return undefined
      const json = writeThrough(value)
      if (json.length > maxChars) return { cut: true, chars: json.length, beginning: texts([json])[0] }
      const plain = (json.match(tokens) ?? []).map(token => String(token.startsWith('"') || !losesValue(token) ? JSON.parse(token) : token))
      const redacted = redact(plain)
      let at = -1
      // A number stays one, unless the page would lose digits of it or it holds a secret.
      return readJson(json.replace(tokens, token => redacted[++at] === String(Number(token)) ? token : JSON.stringify(redacted[at])))
    }
  }
}
