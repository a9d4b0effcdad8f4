/** A key that stands twice in one object of a JSON text; line and column count from 1. */
export interface DuplicateKey {
  key: string
  line: number
  column: number
}

/** The first duplicate key of a text that is known to be JSON: `JSON.parse` keeps the last value without a word. */
export function findDuplicateKey (json: string): DuplicateKey | undefined {
  /** Keys of the objects around the current place; undefined for arrays. */
  const open: Array<Set<string> | undefined> = []
  for (let at = 0; at < json.length; at++) {
    const char = json[at]
    if (char === '{') open.push(new Set())
    else if (char === '[') open.push(undefined)
    else if (char === '}' || char === ']') open.pop()
    else if (char === '"') {
      const end = endOfString(json, at)
      const keys = isKey(json, end) ? open.at(-1) : undefined
      const key = keys === undefined ? '' : JSON.parse(json.slice(at, end)) as string
      if (keys?.has(key) === true) return { key, ...positionOf(json, at) }
      keys?.add(key)
      at = end - 1
    }
  }
  return undefined
}

/** The index behind the closing quote of the string that opens at `start`. */
function endOfString (json: string, start: number): number {
  let at = start + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

function isKey (json: string, end: number): boolean {
  let at = end
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at++
  return json[at] === ':'
}

function positionOf (json: string, at: number): { line: number, column: number } {
  const before = json.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
