import { isUtf8, type Buffer } from 'node:buffer'

/** In place of bytes that aren't UTF-8. */
const replacement = 0xfffd
/** Control characters that texts have: tab, line breaks, form feed, backspace and escape. */
const textual: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b])

/**
 * How many places of a text aren't UTF-8, as of file names, old logs and commit messages; undefined for what is no text: it
 * holds a NUL, or more than half of it is no character that texts have.
 */
export function foreignPlaces (bytes: Buffer): number | undefined {
  if (isUtf8(bytes)) return 0
  if (bytes.includes(0)) return undefined
  const text = bytes.toString('utf8')
  let [foreign, controls] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === replacement) foreign += 1
    else if (code < 0x20 && !textual.has(code)) controls += 1
  }
  return 2 * (foreign + controls) > text.length ? undefined : foreign
}

export function foreignNote (places: number): string {
  return `the output isn't UTF-8 in ${places} ${places === 1 ? 'place, which has' : 'places, each of which has'} U+FFFD instead`
}
