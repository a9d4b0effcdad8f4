import { conceptsOf } from './concepts.ts'
import { stemOf } from './stem.ts'

/** Words that say nothing of a tool. */
const stopWords = new Set((
  'a about am an and any are as at be been by can could do does for from had has have how i if in into is it its many me much my of on or our please so some that the their them then there these ' +
  'this those to us want we what when where which who will with would you your need like using via'
).split(' '))
/** UTF-16 units of a text that are looked at: names and descriptions are shorter, and a query is bounded. */
const mostChars = 4_000
/** Scripts that are written without spaces: each pair of characters is a word. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu

/**
 * The words of a text as they are searched for: parts of names (`getUserById`, `get_user_by_id`) are words by themselves, without case,
 * accents and the endings of English. A name like GitHub is one word, too; where it is known to be one, its parts don't count.
 */
export function searchWords (text: string, isKnown: (word: string) => boolean = () => false): string[] {
  const plain = text.slice(0, mostChars).normalize('NFKD').replace(/\p{M}/gu, '')
  const words: string[] = []
  for (const [found] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    const whole = stemOf(found.toLowerCase())
    const parts = found.replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2').replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2').toLowerCase().split(' ')
    if (parts.length > 1) words.push(whole)
    if (parts.length === 1 || !isKnown(whole)) words.push(...parts.flatMap(wordsOfPart))
  }
  return words
}

function wordsOfPart (word: string): string[] {
  if (stopWords.has(word)) return [...conceptsOf(word)]
  const runs = word.match(unspaced)
  if (runs === null) return [stemOf(word)]
  return [...runs.flatMap(pairsOf), ...word.split(unspaced).filter(part => part !== '').map(stemOf)]
}

function pairsOf (run: string): string[] {
  const chars = [...run]
  return chars.length === 1 ? chars : chars.slice(1).map((char, at) => `${chars[at] ?? ''}${char}`)
}
