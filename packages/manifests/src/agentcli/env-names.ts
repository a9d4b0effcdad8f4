import { ManifestFault } from '../finding/finding.ts'
import { goQuote } from '../finding/go-quote.ts'

/** Unicode white space, which Go trims; `String.prototype.trim` differs in U+0085 and U+FEFF. */
const space = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const leadingSpace = new RegExp(`^${space}+`)
const validName = /^[A-Z_][A-Z0-9_]*$/

/**
 * The normalized allowlist of environment variables: trimmed, upper case, without duplicates, first occurrences kept.
 *
 * @param faults gets a fault for each bad name, with a text that lacks the `tool[i] "<name>": ` in front.
 */
export function envNames (entries: readonly string[], faults: ManifestFault[]): string[] {
  return [...new Set(entries.flatMap((raw, index) => {
    const name = upperCase(trim(raw))
    if (validName.test(name)) return [name]
    faults.push(badName(raw, index, name === ''))
    return []
  }))]
}

function badName (raw: string, index: number, empty: boolean): ManifestFault {
  if (empty) return new ManifestFault('AC8', `envPassthrough[${index}]: empty name`, { fix: 'Remove the entry.' })
  return new ManifestFault('A36', `envPassthrough[${index}]: invalid name ${goQuote(raw)} (must match [A-Z_][A-Z0-9_]*)`, {
    fix: 'Use letters, digits and underscores, and no digit in front.'
  })
}

function trim (text: string): string {
  const tail = text.replace(leadingSpace, '')
  let end = tail.length
  while (end > 0 && leadingSpace.test(tail.charAt(end - 1))) end--
  return tail.slice(0, end)
}

/**
 * ASCII letters, and the two letters whose upper case is an ASCII letter in Go: the long s and the dotless i.
 * JavaScript's own upper case would let `straße` pass as `STRASSE`.
 */
function upperCase (text: string): string {
  return text.replaceAll('\u017f', 'S').replaceAll('\u0131', 'I').replace(/[a-z]/g, letter => letter.toUpperCase())
}
