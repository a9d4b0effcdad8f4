/** UTF-16 units of the shortest text that is hidden, and of what a longer one is found by. More texts end with fewer by chance. */
export const leastHidden = 6
/** UTF-16 units of a text that are compared. Where a text has so many of a secret, the length of the whole is hidden. */
export const compared = 256
/** Texts with the same beginning, or end, that are told apart, as ways to write one value. With more, the longest length is hidden. */
const mostAlike = 24
const slots = 4_096

interface Hidden {
  part: string
  /** Of `part`. */
  hash: number
  length: number
  /** It stands for all that begin, or end, like this. */
  isMany?: boolean
}
export type Index = ReadonlyMap<string, readonly Hidden[]>

export interface Hider {
  heads: Index
  tails: () => Index
  /** Where 1 is, some text begins with two letters of this slot. */
  begins: Uint8Array
}

const hiders = new WeakMap<readonly string[], Hider>()

/*
 * A tenant chooses its secrets, and may choose thousands of lines that all begin alike, or that nearly stand in what it prints. So
 * texts are not looked for one by one: each place of a text is looked at once, and takes bounded time however many they are.
 */

export type Place = readonly [start: number, end: number]

/** Where hidden texts stand; of those that overlap, one place. */
export function placesOf (text: string, { heads, begins }: Hider): Place[] {
  const places: Place[] = []
  const hashAt = hashesOf(text)
  let start = -1
  let end = -1
  for (let at = 0; at + leastHidden <= text.length && end < text.length; at++) {
    if (begins[slotOf(text, at)] === 0) continue
    const length = lengthAt(heads, text, at, hashAt)
    if (length === 0) continue
    if (at >= end) {
      if (start !== -1) places.push([start, end])
      start = at
    }
    end = Math.max(end, at + length)
  }
  return start === -1 ? places : [...places, [start, end]]
}

/** Where a hidden text begins that was cut at the end of this one; a rest that is too short to be found by is none. */
export function cutAt (text: string, { heads, begins }: Hider): number {
  const hashAt = hashesOf(text)
  for (let at = 0; at + leastHidden <= text.length; at++) {
    if (begins[slotOf(text, at)] === 0) continue
    const left = text.length - at
    const isCut = ({ part, length, hash }: Hidden): boolean => (
      left < length && (left <= part.length ? part.startsWith(text.slice(at)) : hashAt(at, part.length) === hash)
    )
    if (heads.get(text.slice(at, at + leastHidden))?.some(isCut) === true) return at
  }
  return text.length
}

function lengthAt (heads: Index, text: string, at: number, hashAt: HashAt): number {
  const alike = heads.get(text.slice(at, at + leastHidden)) ?? []
  return alike.reduce((most, { part, length, hash }) => length > most && hashAt(at, part.length) === hash ? length : most, 0)
}

type HashAt = (at: number, length: number) => number | undefined

const blockUnits = 65_536
const factor = 0x01000193
const powers = Array.from({ length: compared }).reduce<number[]>(all => [...all, Math.imul(all.at(-1) ?? 1, factor)], [1])

/**
 * Makes the function that gives a hash of a part of a text, in a time that does not depend on the part's length; undefined beyond
 * the end. Two texts with the same hash count as the same: a secret is never missed, and a text of chance hardly ever taken for one.
 */
export function hashesOf (text: string): HashAt {
  let begin = -1
  let sums = new Int32Array()
  return (at, length) => {
    if (at - at % blockUnits !== begin) {
      begin = at - at % blockUnits
      sums = new Int32Array(Math.min(text.length - begin, blockUnits + compared) + 1)
      for (let index = 1; index < sums.length; index++) {
        sums[index] = Math.imul(sums[index - 1] ?? 0, factor) + text.charCodeAt(begin + index - 1)
      }
    }
    const [before, behind] = [sums[at - begin] ?? 0, sums[at - begin + length]]
    return behind === undefined ? undefined : behind - Math.imul(before, powers[length] ?? 0) | 0
  }
}

/** Of a list of texts, which is not changed any more. */
export function hiderOf (hide: readonly string[]): Hider {
  const known = hiders.get(hide)
  if (known !== undefined) return known
  const begins = new Uint8Array(slots)
  const long = hide.filter(text => text.length >= leastHidden)
  for (const text of long) begins[slotOf(text, 0)] = 1
  const heads = indexOf(long, text => text.slice(0, compared), part => part.slice(0, leastHidden))
  const hider = {
    heads,
    tails: once(() => indexOf(long, text => text.slice(-compared), part => part.slice(-leastHidden))),
    begins
  }
  hiders.set(hide, hider)
  return hider
}

function once<Made> (make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
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
    else if (alike === undefined) index.set(key, [hiddenOf(part, text.length)])
    else if (alike.length < mostAlike) alike.push(hiddenOf(part, text.length))
    else index.set(key, [{ ...hiddenOf(key, Math.max(text.length, ...alike.map(({ length }) => length))), isMany: true }])
  }
  return index
}

function hiddenOf (part: string, length: number): Hidden {
  return { part, length, hash: hashesOf(part)(0, part.length) ?? 0 }
}
