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

interface Reading {
  /** A text without it has none of the tokens. */
  sign: string
  token: RegExp
  /** What a token stands for: never more units than it has. */
  read: (token: string) => string
}

/** Other ways to write a text, of which each library has its own. */
const readings: readonly Reading[] = [
  // JSON: one library escapes a plus, another an ampersand. A backslash takes the next character with it.
  { sign: '\\u', token: /\\(?:u[0-9a-f]{4}|[^])/gi, read: token => token.length === 6 ? fromHex(token.slice(2)) : token },
  { sign: '%', token: percent(), read: readPercent },
  // Forms have a plus for a space.
  { sign: '+', token: percent('\\+|'), read: token => token === '+' ? ' ' : readPercent(token) },
  // UTF-16 or UTF-32 that was read as another one has NULs between its letters.
  { sign: '\0', token: /\0+/g, read: () => '' },
  // Base64 on several lines.
  { sign: '\n', token: /\r?\n(?<=[\w+/-]{20}\r?\n)/g, read: () => '' }
]

/** A character of UTF-8 in percent-encoding. */
function percent (or = ''): RegExp {
  const more = '%[89ab][0-9a-f]'
  return new RegExp(`${or}%[0-7][0-9a-f]|%[cd][0-9a-f]${more}|%e[0-9a-f](?:${more}){2}|%f[0-7](?:${more}){3}`, 'gi')
}

function readPercent (token: string): string {
  return token.length === 3 ? fromHex(token.slice(1)) : Buffer.from(token.replaceAll('%', ''), 'hex').toString('utf8')
}

function fromHex (digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}

/**
 * A text with a mark in the place of others, wherever they stand.
 *
 * @param hide the longer of two that begin alike first, as the forms of secrets are sorted
 */
export function withoutTexts (text: string, hide: readonly string[], mark = hiddenText): string {
  if (text.length < leastHidden || hide.length === 0) return text
  const hider = hiderOf(hide)
  const places = placesOf(text, hider)
  for (const reading of readings) {
    if (!text.includes(reading.sign)) continue
    const plain = text.replace(reading.token, reading.read)
    if (plain !== text) places.push(...placesIn(text, reading, placesOf(plain, hider)))
  }
  return withMarks(text, places, mark)
}

/** Where places of a text that was read stand in the text as it is. */
function placesIn (text: string, { token, read }: Reading, places: readonly Place[]): Place[] {
  if (places.length === 0) return []
  const tokens = text.matchAll(token)
  // Behind the last token that was passed: the unit of what was read, and where it stands.
  let [unit, at] = [0, 0]
  let next = tokens.next().value
  const standsAt = (wanted: number): Place => {
    while (next !== undefined) {
      const word = read(next[0])
      const begins = unit + next.index - at
      const end = next.index + next[0].length
      if (wanted < begins) break
      if (wanted < begins + word.length) return [next.index, end]
      ;[unit, at, next] = [begins + word.length, end, tokens.next().value]
    }
    return [at + wanted - unit, at + wanted - unit + 1]
  }
  return places.map(([start, end]) => [standsAt(start)[0], standsAt(end - 1)[1]])
}

type Place = readonly [start: number, end: number]

/** Where hidden texts stand; of those that overlap, one place. */
function placesOf (text: string, { heads, begins }: Hider): Place[] {
  const places: Place[] = []
  let start = -1
  let end = -1
  for (let at = 0; at + leastHidden <= text.length && end < text.length; at++) {
    if (begins[slotOf(text, at)] === 0) continue
    const length = lengthAt(heads, text, at)
    if (length === 0) continue
    if (at >= end) {
      if (start !== -1) places.push([start, end])
      start = at
    }
    end = Math.max(end, at + length)
  }
  return start === -1 ? places : [...places, [start, end]]
}

/** Where places overlap, they have one mark. */
function withMarks (text: string, places: Place[], mark: string): string {
  if (places.length === 0) return text
  const pieces: string[] = []
  let shown = 0
  for (const [start, end] of places.sort((a, b) => a[0] - b[0])) {
    if (start >= shown) pieces.push(text.slice(shown, start), mark)
    shown = Math.max(shown, end)
  }
  return `${pieces.join('')}${text.slice(shown)}`
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
