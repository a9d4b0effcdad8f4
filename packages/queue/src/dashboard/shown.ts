import type { Redact } from '@toolyard/runtime'
import { mapTexts } from '@toolyard/contract/terms'

/** How texts and values of jobs are shown on a page. */
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
      const json = JSON.stringify(value)
      if (json.length > maxChars) return { cut: true, chars: json.length, beginning: text(json) }
      // Names are redacted too: a tool's output may have anything in them.
      const redacted = redact(textsIn(value))
      let at = 0
      return mapTexts(value, () => redacted[at++] ?? '')
    }
  }
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
