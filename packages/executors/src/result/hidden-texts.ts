import { mapTexts } from '@toolyard/contract/terms'

/** Stands in the place of what is hidden. */
export const hiddenText = '***REDACTED***'
/** UTF-16 units of the shortest text that is hidden, and of what a longer one is found by. More texts end with fewer by chance. */
export const leastHidden = 6
/** UTF-16 units of a text that are compared. Where a text has so many of a secret, the length of the whole is hidden. */
const compared = 256
/** Texts with the same beginning, or end, that are told apart. With more, as much as the longest of them has is hidden. */
const mostAlike = 8
const slots = 4_096

interface Hidden {
  part: string
  length: number
  /** It stands for all that begin, or end, like this. */
  isMany?: boolean
}
type Index = ReadonlyMap<string, readonly Hidden[]>

interface Hider {
  heads: Index
  tails: Index
  /** Where 1 is, some text begins with two letters of this slot. */
  begins: Uint8Array
}

const hiders = new WeakMap<readonly string[], Hider>()

/*
 * A tenant chooses its secrets, and may choose thousands of lines that all begin alike, or that nearly stand in what it prints. So
 * texts are not looked for one by one: each place of a text is looked at once, and takes bounded time however many they are.
 */

/** A character as JSON may write it. A backslash takes the next character with it. */
const escape = /\\(?:u([0-9a-f]{4})|[^])/gi

/**
 * A text with a mark in the place of others, wherever they stand.
 *
 * @param hide the same list for many texts, whose index is made once
 */
export function withoutTexts (text: string, hide: readonly string[], mark = hiddenText): string {
  if (text.length < leastHidden || hide.length === 0) return text
  const hider = hiderOf(hide)
  const shown = withoutSpread(withoutWhole(text, hider, mark), hider, mark)
  if (!shown.includes('\\u')) return shown
  // Each library escapes other characters: one a plus, one an ampersand.
  const read = shown.replace(escape, readEscape)
  const hidden = withoutWhole(read, hider, mark)
  return hidden === read ? shown : hidden
}

/** A text in UTF-16 or UTF-32 that was read as another one has NULs between its letters. */
function withoutSpread (text: string, hider: Hider, mark: string): string {
  if (!text.includes('\0')) return text
  const read = text.replaceAll('\0', '')
  const hidden = withoutWhole(read, hider, mark)
  return hidden === read ? text : hidden
}

/** Quotes, backslashes and control characters stay escaped, so that JSON stays JSON. */
function readEscape (whole: string, digits?: string): string {
  const character = String.fromCharCode(Number.parseInt(digits ?? '0', 16))
  return character < ' ' || character === '"' || character === '\\' ? whole : character
}

function withoutWhole (text: string, { heads, begins }: Hider, mark: string): string {
  const pieces: string[] = []
  let shown = 0
  let start = -1
  let end = -1
  for (let at = 0; at + leastHidden <= text.length && end < text.length; at++) {
    if (begins[slotOf(text, at)] === 0) continue
    const length = lengthAt(heads, text, at)
    if (length === 0) continue
    if (at >= end) {
      if (start !== -1) pieces.push(text.slice(shown, start), mark)
      shown = Math.max(end, 0)
      start = at
    }
    end = Math.max(end, at + length)
  }
  return start === -1 ? text : `${pieces.join('')}${text.slice(shown, start)}${mark}${text.slice(end)}`
}

/** The same for all texts in a value, and for a field with the text that a hidden document has there: see `fieldForm`. */
export function withoutTextsIn (value: unknown, hide: readonly string[], { mark = hiddenText, isCut = false } = {}): unknown {
  if (hide.length === 0) return value
  return mapTexts(value, (text, field) => {
    const shown = isCut ? withoutParts(text, hide) : withoutTexts(text, hide, mark)
    if (shown !== text || field === undefined) return shown
    return withoutTexts(fieldForm(field, text), hide, mark) === mark ? mark : text
  })
}

/** Stands for a field in what is hidden. */
export function fieldForm (name: string, text: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(text)}`
}

/** The same for a text that is cut: what is left at its ends of a hidden text is replaced as well, and so it is in each line. */
export function withoutParts (text: string, hide: readonly string[]): string {
  if (hide.length === 0) return text
  const hider = hiderOf(hide)
  const shown = withoutRests(withoutTexts(text, hide), hider)
  if (!shown.includes('\0')) return shown
  const read = shown.replaceAll('\0', '')
  const hidden = withoutRests(read, hider)
  return hidden === read ? shown : hidden
}

function withoutRests (text: string, hider: Hider): string {
  return text.split('\n').map(line => withoutBegun(withoutEnded(line, hider), hider)).join('\n')
}

function withoutBegun (line: string, { heads }: Hider): string {
  for (let at = 0; at + leastHidden <= line.length; at++) {
    for (const { part, length } of heads.get(line.slice(at, at + leastHidden)) ?? []) {
      const left = line.length - at
      const isBegun = left <= part.length ? part.startsWith(line.slice(at)) : line.startsWith(part, at)
      if (isBegun && left < length) return line.slice(0, at) + hiddenText
    }
  }
  return line
}

function withoutEnded (line: string, { tails }: Hider): string {
  for (let end = line.length; end >= leastHidden; end--) {
    for (const { part, length } of tails.get(line.slice(end - leastHidden, end)) ?? []) {
      const isEnded = end <= part.length ? part.endsWith(line.slice(0, end)) : line.endsWith(part, end)
      if (isEnded && end < length) return hiddenText + line.slice(end)
    }
  }
  return line
}

function lengthAt (heads: Index, text: string, at: number): number {
  const alike = heads.get(text.slice(at, at + leastHidden)) ?? []
  return alike.reduce((most, { part, length }) => length > most && text.startsWith(part, at) ? length : most, 0)
}

function hiderOf (hide: readonly string[]): Hider {
  const known = hiders.get(hide)
  if (known !== undefined) return known
  const begins = new Uint8Array(slots)
  const long = hide.filter(text => text.length >= leastHidden)
  for (const text of long) begins[slotOf(text, 0)] = 1
  const hider = {
    heads: indexOf(long, text => text.slice(0, compared), part => part.slice(0, leastHidden)),
    tails: indexOf(long, text => text.slice(-compared), part => part.slice(-leastHidden)),
    begins
  }
  hiders.set(hide, hider)
  return hider
}

function slotOf (text: string, at: number): number {
  return (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) % slots
}

function indexOf (texts: readonly string[], partOf: (text: string) => string, keyOf: (part: string) => string): Index {
  const index = new Map<string, Hidden[]>()
  for (const text of texts) {
    const part = partOf(text)
    const key = keyOf(part)
    const alike = index.get(key)
    const same = alike?.find(each => each.part === part || each.isMany === true)
    if (same !== undefined) same.length = Math.max(same.length, text.length)
    else if (alike === undefined) index.set(key, [{ part, length: text.length }])
    else if (alike.length < mostAlike) alike.push({ part, length: text.length })
    else index.set(key, [{ part: key, length: Math.max(text.length, ...alike.map(({ length }) => length)), isMany: true }])
  }
  return index
}
