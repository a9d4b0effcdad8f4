import { Transform } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { compared, hiderOf, placesOf, type Place } from './hider.ts'

/** Bytes that are looked through in one turn. */
const pieceBytes = 65_536

/** Texts as bytes may have them, UTF-8 or Latin-1, with a letter for each byte. */
export function byteForms (forms: readonly string[]): string[] {
  return [...new Set(forms.flatMap(form => [form, Buffer.from(form).toString('latin1')]))]
}

/** A text with a letter for each byte, with stars in the place of others, as many as these have letters. */
export function starred (text: string, lists: ReadonlyArray<readonly string[]>): string {
  return withStars(text, lists.flatMap(list => placesOf(text, hiderOf(list)))).toString('latin1')
}

/**
 * The same for bytes that come in pieces. What stands behind their last line break is held back until more comes, as far as a
 * hidden text could reach into it: whatever it is, or who chooses it would hear whether a hidden text begins so.
 */
export function starStream (lists: ReadonlyArray<readonly string[]>): Transform {
  const hiders = lists.map(hiderOf)
  let held = ''
  /** So many of the bytes that come next belong to what was hidden. */
  let hidden = 0
  return new Transform({
    transform (chunk: Buffer, _encoding, done) {
      const text = held + chunk.toString('latin1')
      const shown = Math.max(text.lastIndexOf('\n') + 1, text.length - compared + 1, 0)
      const places: Place[] = [[0, hidden], ...hiders.flatMap(hider => placesOf(text, hider))]
      // What begins behind is looked for again.
      hidden = places.reduce((most, [start, end]) => start < shown || start === 0 ? Math.max(most, end - shown) : most, 0)
      held = text.slice(shown)
      done(null, withStars(text, places).subarray(0, shown))
    },
    flush (done) { done(null, withStars(held, [[0, hidden], ...hiders.flatMap(hider => placesOf(held, hider))])) }
  })
}

/** Whether one of these texts stands in the bytes. */
export async function holdsText (bytes: Buffer, forms: readonly string[]): Promise<boolean> {
  const hider = hiderOf(byteForms(forms))
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (placesOf(bytes.toString('latin1', at, at + pieceBytes + compared), hider).length > 0) return true
    await turn()
  }
  return false
}

function withStars (text: string, places: readonly Place[]): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  for (const [start, end] of places) bytes.fill('*', start, Math.min(end, bytes.length))
  return bytes
}
