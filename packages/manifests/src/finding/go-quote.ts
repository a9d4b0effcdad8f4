const escapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v', '"': '\\"', '\\': '\\\\'
}

/** Letters, marks, numbers, punctuation, symbols and the ASCII space: what Go prints as it is. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/**
 * Quotes a text as Go's `%q` does, which the error texts of agentcli are made with.
 *
 * A surrogate without its partner becomes U+FFFD, as in Go, whose strings cannot hold one.
 */
export function goQuote (text: string): string {
  let quoted = ''
  for (const character of text) quoted += escaped(character)
  return `"${quoted}"`
}

function escaped (character: string): string {
  const short = escapes[character]
  if (short !== undefined) return short
  if (printable.test(character)) return character
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
}

function hex (code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
