import { hiddenText, mapTexts } from '@toolyard/contract/terms'
import { cutAt, hashesOf, hiderOf, leastHidden, placesOf, type Hider, type Place } from './hider.ts'

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

interface HidingOptions {
  mark?: string
  /** Texts of which a cut may have left a part: that is hidden, too. */
  cut?: readonly string[]
}

/** The same for all texts in a value, and for a field with the text that a hidden document has there: see `fieldForm`. */
export function withoutTextsIn (value: unknown, hide: readonly string[], { mark = hiddenText, cut = [] }: HidingOptions = {}): unknown {
  if (hide.length === 0) return value
  return mapTexts(value, (text, field) => {
    const shown = withoutParts(withoutTexts(text, hide, mark), cut)
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

function withoutBegun (line: string, hider: Hider): string {
  const begun = cutAt(line, hider)
  return begun === line.length ? line : line.slice(0, begun) + hiddenText
}

function withoutEnded (line: string, hider: Hider): string {
  const tails = hider.tails()
  const hashAt = hashesOf(line)
  for (let end = line.length; end >= leastHidden; end--) {
    for (const { part, length, hash } of tails.get(line.slice(end - leastHidden, end)) ?? []) {
      const isEnded = end <= part.length ? part.endsWith(line.slice(0, end)) : hashAt(end - part.length, part.length) === hash
      if (isEnded && end < length) return hiddenText + line.slice(end)
    }
  }
  return line
}
