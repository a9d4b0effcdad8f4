import { isRecord } from '@toolyard/contract'
import { createPause, type Tool } from '@toolyard/manifests'
import { conceptsOf } from './concepts.ts'
import { WordIndex, type WeighedWords } from './word-index.ts'
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

/** Words of a query that count: more say nothing new, and each takes its time. */
const mostWords = 24
const weights = { name: 6, namespace: 1.5, tags: 1.5, description: 2, parameters: 0.4 }

export interface ToolQuery {
  query: string
  namespace?: string | undefined
  limit: number
}

/** Finds tools by words, best first, by BM25. Its index has the tools of one publication alone: no other has a say in the order. */
export class ToolSearch {
  readonly #tools: readonly Tool[]
  #index: Promise<WordIndex> | undefined

  constructor (tools: readonly Tool[]) {
    this.#tools = tools
  }

  /** The best tools; the index is made with the first search. */
  async find ({ query, namespace, limit }: ToolQuery): Promise<Tool[]> {
    this.#index ??= indexOf(this.#tools)
    const index = await this.#index
    const asked = new Set(searchWords(query, word => index.has(word)))
    const words = new Map([...asked].slice(0, mostWords).map(word => [word, conceptsOf(word)]))
    const isMeant = namespace === undefined ? () => true : (id: number) => this.#tools[id]?.namespace === namespace
    return index.search(words, limit, isMeant).flatMap(id => this.#tools[id] ?? [])
  }
}

async function indexOf (tools: readonly Tool[]): Promise<WordIndex> {
  const pause = createPause()
  const texts: WeighedWords[] = []
  for (const tool of tools) {
    await pause()
    texts.push(wordsOf(tool))
  }
  return await WordIndex.of(texts, pause)
}

function wordsOf ({ name, namespace = '', tags = [], description, parameters: { properties } }: Tool): WeighedWords {
  const words = new Map<string, number>()
  const note = (text: string, weight: number): void => {
    for (const word of new Set(searchWords(text))) {
      words.set(word, (words.get(word) ?? 0) + weight)
      for (const concept of conceptsOf(word)) words.set(concept, Math.max(words.get(concept) ?? 0, weight))
    }
  }
  note(name, weights.name)
  note(namespace, weights.namespace)
  note(tags.join(' '), weights.tags)
  note(description, weights.description)
  if (isRecord(properties)) note(Object.keys(properties).join(' '), weights.parameters)
  return words
}

/**
 * The words of a text as they are searched for: parts of names (`getUserById`, `get_user_by_id`) are words by themselves, without case,
 * accents and the endings of English. A name like GitHub is one word, too; where it is known to be one, its parts don't count.
 */
function searchWords (text: string, isKnown: (word: string) => boolean = () => false): string[] {
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
