#!/usr/bin/env node
// word_count: counts a text or a workspace file. Arguments: {"text"} or {"path"}, and {"top"} for the most frequent words.
import { answer, readWorkspaceText } from './lib/call.mjs'

const maxBytes = 10 * 1024 * 1024
const word = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu

await answer(async ({ text, path, top = 0 }) => {
  if ((text === undefined) === (path === undefined)) throw new Error('give either text or path')
  if (text !== undefined && typeof text !== 'string') throw new Error('text must be a string')
  if (!Number.isInteger(top) || top < 0 || top > 100) throw new Error('top must be an integer 0..100')
  return { ...(path !== undefined && { path }), ...count(text ?? await readWorkspaceText(path, maxBytes), top) }
})

function count (text, top) {
  const words = text.match(word) ?? []
  return {
    words: words.length,
    lines: text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    characters: [...text].length,
    bytes: Buffer.byteLength(text),
    ...(top > 0 && { top_words: mostFrequent(words, top) })
  }
}

/** The most frequent words in lower case, and of equally frequent ones the first in the alphabet. */
function mostFrequent (words, top) {
  const counts = new Map()
  for (const each of words) counts.set(each.toLowerCase(), (counts.get(each.toLowerCase()) ?? 0) + 1)
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, top)
    .map(([each, times]) => ({ word: each, count: times }))
}
