/*
 * Where a text stops being JSON. The engine's parser says it for some faults only. One pass without recursion, for texts
 * that are known to be faulty.
 */

const literals = ['true', 'false', 'null']
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

type Next = 'a value' | "a value or ']'" | 'a name in double quotes' | "a name in double quotes or '}'" | "':'" | "',' or ']'" | "',' or '}'" | 'the end'

/** Says what was expected at the first place where a text is no JSON, with line and column from 1; undefined where it is JSON. */
export function faultOf (text: string): string | undefined {
  const open: Array<'[' | '{'> = []
  let next: Next = 'a value'
  const afterValue = (): Next => {
    const inside = open.at(-1)
    return inside === undefined ? 'the end' : inside === '[' ? "',' or ']'" : "',' or '}'"
  }
  for (let at = 0; ;) {
    while (isSpace(text.charCodeAt(at))) at++
    const char = text[at]
    if (char === undefined) return next === 'the end' ? undefined : `it ends where ${next} is expected${place(text, at)}`
    // Not made for each character: to know the place, all of the text before it is gone through.
    const expected = (): string => `${next} is expected${place(text, at)}`
    if (next === "':'" || next === 'the end') {
      if (char !== ':' || next === 'the end') return expected()
      next = 'a value'
      at++
    } else if (next === "',' or ']'" || next === "',' or '}'") {
      if (char === ',') next = next === "',' or ']'" ? 'a value' : 'a name in double quotes'
      else if (next.includes(`'${char}'`)) {
        open.pop()
        next = afterValue()
      } else return expected()
      at++
    } else if ((char === ']' || char === '}') && next.includes(`'${char}'`)) {
      open.pop()
      next = afterValue()
      at++
    } else if (char === '"') {
      const end = endOfText(text, at)
      if (typeof end === 'string') return end
      next = next.startsWith('a name') ? "':'" : afterValue()
      at = end
    } else if (next.startsWith('a name')) return expected()
    else if (char === '[' || char === '{') {
      open.push(char)
      next = char === '[' ? "a value or ']'" : "a name in double quotes or '}'"
      at++
    } else {
      const length = literals.find(literal => text.startsWith(literal, at))?.length ?? matched(number, text, at)
      if (length === 0) return expected()
      next = afterValue()
      at += length
    }
  }
}

/** The index behind the closing quote, or what is wrong in the text before it. */
function endOfText (text: string, start: number): number | string {
  for (let at = start + 1; ;) {
    const code = text.charCodeAt(at)
    if (at >= text.length) return `a text that begins${place(text, start)} has no end`
    if (code === 0x22) return at + 1
    if (code < 0x20) return `a control character must be escaped in a text${place(text, at)}`
    const length: number = code === 0x5c ? matched(escape, text, at) : 1
    if (length === 0) return `a backslash begins no escape that JSON knows${place(text, at)}`
    at += length
  }
}

function matched (pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0].length ?? 0
}

function isSpace (code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function place (text: string, at: number): string {
  let line = 1
  for (let from = text.indexOf('\n'); from !== -1 && from < at; from = text.indexOf('\n', from + 1)) line++
  return ` at line ${line}, column ${at - text.slice(0, at).lastIndexOf('\n')}`
}
