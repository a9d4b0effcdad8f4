import { isRecord } from '@toolyard/contract'
import { createPause, type Tool } from '@toolyard/manifests'
import { conceptsOf } from './concepts.ts'
import { searchWords } from './search-words.ts'
import { WordIndex, type WeighedWords } from './word-index.ts'

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
