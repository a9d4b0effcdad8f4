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
 * accents and the endings of English.
 */
export function searchWords (text: string): string[] {
  const plain = text.slice(0, mostChars)
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const words: string[] = []
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (stopWords.has(word)) {
      words.push(...conceptsOf(word))
      continue
    }
    const runs = word.match(unspaced)
    if (runs === null) words.push(stemOf(word))
    else words.push(...runs.flatMap(pairsOf), ...word.split(unspaced).filter(part => part !== '').map(stemOf))
  }
  return words
}

function pairsOf (run: string): string[] {
  const chars = [...run]
  return chars.length === 1 ? chars : chars.slice(1).map((char, at) => `${chars[at] ?? ''}${char}`)
}
