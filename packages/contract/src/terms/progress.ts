import { firstChars } from '../value/first-chars.ts'
import { limits } from './limits.ts'

export interface Progress {
  done: number
  /** How much there is in all; null where nobody knows. */
  total: number | null
  text: string | null
}

const line = /^::progress (\d{1,15}(?:\.\d{1,15})?)(?:\/(\d{1,15}(?:\.\d{1,15})?))?(?: +(.*))?$/s

/**
 * Reads a line by which a tool tells how far it is: `::progress 40/100 text`, where the total and the text may be left out.
 *
 * @returns undefined for any other line.
 */
export function parseProgress (text: string): Progress | undefined {
  if (!text.startsWith('::progress ')) return undefined
  const found = line.exec(text)
  if (found === null) return undefined
  const [, done, total, said = ''] = found
  return { done: Number(done), total: total === undefined ? null : Number(total), text: said.trim() === '' ? null : said.trim() }
}

/** A text that keeps to the bound of a progress, never cut inside a surrogate pair. */
export function boundedProgress ({ done, total, text }: Progress): Progress {
  if (text === null || text.length <= limits.progressChars) return { done, total, text }
  return { done, total, text: firstChars(text, limits.progressChars) }
}
