import type { DocumentPath } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'
import { createPause } from './pause.ts'

/** A key that stands twice in one object; line and column count from 1. */
export interface DuplicateKey {
  /** Of the key itself, or of what it lies in when that nests very deeply. */
  path: DocumentPath
  line: number
  column: number
}

/** An object or a list around the current place: `keys` of the object so far, or the place in the list. */
interface Level {
  keys?: Set<string>
  at: string | number
}

const code = { openObject: 0x7b, closeObject: 0x7d, openList: 0x5b, closeList: 0x5d, comma: 0x2c, quote: 0x22, backslash: 0x5c } as const

/** Keys are looked for up to this many doubles: more would only say the same. */
const most = 100

/** Characters that are looked through before others may have a turn. */
const partChars = 32_768

/**
 * Duplicate keys of a text that is known to be JSON, for which `JSON.parse` keeps the last value without a word. One
 * pass, no recursion, in parts.
 */
export async function duplicateKeys (json: string): Promise<DuplicateKey[]> {
  const found: DuplicateKey[] = []
  const levels: Level[] = []
  const pause = createPause()
  const positionOf = positionsIn(json)
  let part = partChars
  for (let at = 0; at < json.length && found.length < most; at++) {
    if (at >= part) {
      await pause()
      part = at + partChars
    }
    switch (json.charCodeAt(at)) {
      case code.openObject: levels.push({ keys: new Set(), at: '' }); break
      case code.openList: levels.push({ at: 0 }); break
      case code.closeObject:
      case code.closeList: levels.pop(); break
      case code.comma: {
        const level = levels.at(-1)
        if (typeof level?.at === 'number') level.at++
        break
      }
      case code.quote: {
        const end = endOfText(json, at)
        const level = levels.at(-1)
        if (level?.keys !== undefined && isKey(json, end)) {
          level.at = keyOf(json.slice(at, end))
          if (level.keys.has(level.at)) {
            found.push({ path: levels.slice(0, manifestLimits.depth).map(({ at }) => at), ...positionOf(at) })
          }
          level.keys.add(level.at)
        }
        at = end - 1
      }
    }
  }
  return found
}

function keyOf (text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

/** Tells line and column, from 1, of one place in a text after the other: lines are counted once. */
function positionsIn (text: string): (at: number) => { line: number, column: number } {
  let line = 1
  let start = 0
  return at => {
    for (let end = text.indexOf('\n', start); end !== -1 && end < at; end = text.indexOf('\n', start)) {
      line += 1
      start = end + 1
    }
    return { line, column: at - start + 1 }
  }
}

/** The index behind the closing quote of the text that opens at `start`. */
function endOfText (json: string, start: number): number {
  let at = start + 1
  while (json.charCodeAt(at) !== code.quote) at += json.charCodeAt(at) === code.backslash ? 2 : 1
  return at + 1
}

function isKey (json: string, end: number): boolean {
  let at = end
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at++
  return json[at] === ':'
}
