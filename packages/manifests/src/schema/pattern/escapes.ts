/** Characters that mean themselves, escaped or not. `-` does outside of brackets alone. */
const plain = new Set(' !"#%&\',:;<=>@_`~')

/**
 * A pattern without the escapes that JSON Schema's engines disagree about: many allow `\-`, `\_` or `\@`, which mean the
 * character itself, and JavaScript's with Unicode refuses them.
 */
export function withoutNeedlessEscapes (source: string): string {
  let result = ''
  let inBrackets = false
  for (let at = 0; at < source.length; at++) {
    const char = source.charAt(at)
    if (char === '\\' && at + 1 < source.length) {
      at += 1
      const escaped = source.charAt(at)
      result += plain.has(escaped) || (escaped === '-' && !inBrackets) ? escaped : char + escaped
      continue
    }
    if (char === '[') inBrackets = true
    else if (char === ']') inBrackets = false
    result += char
  }
  return result
}
