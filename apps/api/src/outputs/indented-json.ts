import { pointerToken } from '@toolyard/contract/terms'

/** A line of JSON that was indented, and where its value is. */
export interface JsonLine {
  text: string
  /** JSON Pointer of what begins or stands in the line. */
  pointer: string
}

interface Open {
  isList: boolean
  pointer: string
  /** How many members it has had so far. */
  count: number
}

/**
 * The lines of a JSON text as people indent it. It is read character by character, so that numbers and the order of names stay as
 * they are, and lists and objects may nest as deep as outputs may.
 */
export function indentedJson (json: string): JsonLine[] {
  const lines: JsonLine[] = []
  const open: Open[] = []
  let line = ''
  let pointer = ''
  const push = (): void => {
    lines.push({ text: line, pointer })
    line = ''
  }
  const begin = (): void => {
    const top = open.at(-1)
    if (top === undefined || line !== '') return
    line = '  '.repeat(open.length)
    if (top.isList) pointer = `${top.pointer}/${top.count}`
  }
  for (let at = 0; at < json.length;) {
    const char = json.charAt(at)
    if (char === '"') {
      const end = endOfText(json, at)
      const text = json.slice(at, end)
      const top = open.at(-1)
      const isName = top !== undefined && !top.isList && line === ''
      begin()
      if (isName) pointer = `${top.pointer}/${pointerToken(String(JSON.parse(text)))}`
      line += isName ? `${text}: ` : text
      at = isName ? json.indexOf(':', end) + 1 : end
    } else if (char === '{' || char === '[') {
      begin()
      const isList = char === '['
      const close = nextMark(json, at + 1)
      if (json.charAt(close) === (isList ? ']' : '}')) {
        line += isList ? '[]' : '{}'
        at = close + 1
        continue
      }
      line += char
      const own = pointer
      push()
      open.push({ isList, pointer: open.length === 0 ? '' : own, count: 0 })
      at++
    } else if (char === '}' || char === ']') {
      if (line !== '') push()
      pointer = open.pop()?.pointer ?? ''
      line = `${'  '.repeat(open.length)}${char}`
      at++
    } else if (char === ',') {
      line += ','
      push()
      const top = open.at(-1)
      if (top !== undefined) top.count++
      at++
    } else if (/\s/.test(char)) at++
    else {
      begin()
      const end = endOfPlain(json, at)
      line += json.slice(at, end)
      at = end
    }
  }
  if (line !== '') push()
  return lines
}

function endOfText (json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let back = end - 1
    while (json.charAt(back) === '\\') back--
    if ((end - back) % 2 === 1) return end + 1
  }
  return json.length
}

/** The first character from here on that is no white space. */
function nextMark (json: string, from: number): number {
  let at = from
  while (at < json.length && /\s/.test(json.charAt(at))) at++
  return at
}

/** A number, true, false or null. */
function endOfPlain (json: string, start: number): number {
  let at = start
  while (at < json.length && !/[\s,\]}]/.test(json.charAt(at))) at++
  return at
}
