import { setWritten, WrittenNumber, type Written } from './written.ts'

/**
 * Every JSON matches of which JavaScript loses something, and some that it keeps: a number of 16 digits, with a fraction
 * or an exponent, or `-0`; a key of digits. What stands in texts rarely looks like it.
 */
const mayLose = /(?:^|[[:,])\s*-?(?:\d{16}|\d{1,15}[.eE]|(?<=-)0)|[{,]\s*"(?:\d|\\u003\d)+"\s*:/
/** Steps between two pauses. */
const stepsAtOnce = 8_192
/** UTF-16 units of a text that are looked through between two pauses. */
const unitsAtOnce = 131_072

/** Whether JavaScript may lose something of a JSON: digits of a number, or the order of keys. */
export function mayLoseText (json: string): boolean {
  return mayLose.test(json)
}

/**
 * Reads JSON as `JSON.parse` does; what JavaScript would lose is noted beside the values.
 *
 * @throws SyntaxError
 */
export function readJson (json: string): unknown {
  const value: unknown = JSON.parse(json)
  if (!mayLose.test(json)) return value
  const reading = readWritten(json)
  for (let step = reading.next(); ; step = reading.next()) if (step.done === true) return step.value
}

/** The same for a text that may be long: `pause` is awaited now and then, and before the values are made again. */
export async function readJsonInTurns (json: string, pause: () => Promise<unknown>): Promise<unknown> {
  const value: unknown = JSON.parse(json)
  if (!await mayLoseInTurns(json, pause)) return value
  const reading = readWritten(json)
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done === true) return step.value
    await pause()
  }
}

/** Looks at a long text piece by piece. Each begins with a comma, and no match has another one. */
async function mayLoseInTurns (json: string, pause: () => Promise<unknown>): Promise<boolean> {
  for (let start = 0; start < json.length;) {
    const comma = json.indexOf(',', start + unitsAtOnce)
    const end = comma === -1 ? json.length : comma
    if (start > 0 || end < json.length) await pause()
    if (mayLose.test(json.slice(start, end))) return true
    start = end
  }
  return false
}

/** Reads JSON that is a value by itself, such as an output: a number is no member of anything. */
export function readWhole (json: string): unknown {
  const value = readJson(json)
  return typeof value === 'number' && JSON.stringify(value) !== json ? new WrittenNumber(json.trim()) : value
}

interface Open {
  value: Record<string, unknown> | unknown[]
  written?: Written
  /** Of an object. */
  names: string[]
  /** A name is an index, which JavaScript moves to the front. */
  sorts: boolean
  /** Of the member that is read now. */
  name: string
}

/** A JSON that is valid, without recursion. */
function * readWritten (json: string): Generator<undefined, unknown> {
  const open: Open[] = []
  let top: Open | undefined
  let named = false
  let result: unknown
  for (let at = 0, steps = 1; at < json.length; steps++) {
    if (steps % stepsAtOnce === 0) yield
    const code = json.charCodeAt(at)
    if (code === quote) {
      const end = endOfText(json, at)
      const text = textOf(json, at, end)
      at = end
      if (top !== undefined && !named && !Array.isArray(top.value)) {
        top.name = text
        named = true
      } else {
        result = add(top, text)
        named = false
      }
    } else if (code === openBrace || code === openBracket) {
      const value = code === openBrace ? {} : []
      result = add(top, value)
      named = false
      if (top !== undefined) open.push(top)
      top = { value, names: [], sorts: false, name: '' }
      at++
    } else if (code === closeBrace || code === closeBracket) {
      const ended = top
      top = open.pop()
      if (ended !== undefined) close(ended, top)
      result = top === undefined ? ended?.value : result
      at++
    } else if (code === minus || (code >= zero && code <= nine)) {
      const end = endOfNumber(json, at)
      const text = json.slice(at, end)
      const value = Number(text)
      at = end
      if (top !== undefined && String(value) !== text) note(top, text)
      result = add(top, value)
      named = false
    } else if (code === letterT || code === letterF || code === letterN) {
      result = add(top, code === letterN ? null : code === letterT)
      named = false
      at += code === letterF ? 5 : 4
    } else at++
  }
  return result
}

/** Notes the text of the number that comes next. */
function note (top: Open, text: string): void {
  top.written ??= {}
  if (Array.isArray(top.value)) {
    top.written.items ??= new Array(top.value.length)
    top.written.items[top.value.length] = text
  } else {
    top.written.fields ??= new Map()
    top.written.fields.set(top.name, text)
  }
}

function add (top: Open | undefined, value: unknown): unknown {
  if (top === undefined) return value
  if (Array.isArray(top.value)) {
    top.value.push(value)
    return value
  }
  const { name } = top
  if (!Object.hasOwn(top.value, name)) top.names.push(name)
  if (isIndex(name)) top.sorts = true
  if (name === '__proto__') Object.defineProperty(top.value, name, { value, configurable: true, enumerable: true, writable: true })
  else top.value[name] = value
  return value
}

function close (ended: Open, outer: Open | undefined): void {
  const { value, names, sorts } = ended
  if (sorts && Object.keys(value).some((name, at) => name !== names[at])) (ended.written ??= {}).order = names
  if (ended.written === undefined) return
  setWritten(value, ended.written)
  if (outer !== undefined) outer.written ??= {}
}

function isIndex (name: string): boolean {
  const first = name.charCodeAt(0)
  return first >= zero && first <= nine && (first !== zero || name.length === 1) && /^\d{1,10}$/.test(name)
}

function endOfText (json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let back = end - 1
    while (json.charCodeAt(back) === backslash) back--
    if ((end - back) % 2 === 1) return end + 1
  }
}

function textOf (json: string, start: number, end: number): string {
  const text = json.slice(start + 1, end - 1)
  return text.includes('\\') ? String(JSON.parse(json.slice(start, end))) : text
}

function endOfNumber (json: string, start: number): number {
  let at = start + 1
  for (; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if ((code < zero || code > nine) && code !== dot && code !== lowerE && code !== upperE && code !== minus && code !== plus) break
  }
  return at
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const minus = 0x2d
const plus = 0x2b
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const letterT = 0x74
const letterF = 0x66
const letterN = 0x6e
const lowerE = 0x65
const upperE = 0x45
