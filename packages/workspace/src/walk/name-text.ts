import { isUtf8 } from 'node:buffer'

/*
 * The kernel's names are bytes, ours are texts. Each byte that is no part of UTF-8 is written as `\xHH`, and a backslash that
 * looks like the beginning of that as `\x5C`: no two names have the same text. `entryPath` alone turns texts into names, and
 * whoever reads a directory or a link turns names into texts.
 */

const looksEscaped = /\\(?=x[\dA-F]{2})/g
const escape = /\\x([\dA-F]{2})/g

export function nameText (bytes: Buffer): string {
  const guarded = bytes.includes('\\x') ? Buffer.from(bytes.toString('latin1').replaceAll(looksEscaped, '\\x5C'), 'latin1') : bytes
  if (isUtf8(guarded)) return guarded.toString()
  let text = ''
  for (let at = 0; at < guarded.length;) {
    const character = guarded.subarray(at, at + lengthOf(guarded[at] ?? 0))
    text += isUtf8(character) ? character.toString() : `\\x${character.toString('hex', 0, 1).toUpperCase()}`
    at += isUtf8(character) ? character.length : 1
  }
  return text
}

/** The name of a text: bytes where it isn't UTF-8. A text that `nameText` never gives stands for itself. */
export function nameOf (text: string): string | Buffer {
  if (!text.includes('\\x')) return text
  const unescaped = Buffer.from(text).toString('latin1').replaceAll(escape, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const bytes = Buffer.from(unescaped, 'latin1')
  if (nameText(bytes) !== text) return text
  return isUtf8(bytes) ? bytes.toString() : bytes
}

/** How many bytes a character has that begins with this one. */
function lengthOf (byte: number): number {
  if (byte < 0x80) return 1
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}
