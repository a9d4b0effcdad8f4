import { isRecord, firstChars } from '@toolyard/contract/terms'
import { htmlText } from '../page/html-text.ts'
import { mostResults, type WebResult } from './provider.ts'

/** UTF-16 units of one field of a result. */
const fieldChars = 1_000

/** The results in a list that a search service answered. @throws Error for what is no list. */
export function webResults (list: unknown, snippet: string): WebResult[] {
  if (!Array.isArray(list)) throw new Error('no list of results')
  const found: unknown[] = list.slice(0, mostResults)
  return found.filter(isRecord).flatMap(result => {
    const url = webUrl(result['url'])
    return url === undefined ? [] : [{ title: plainText(result['title']), url, snippet: plainText(result[snippet]) }]
  })
}

/** The text of a field that may hold marks of HTML, in one line. */
function plainText (value: unknown): string {
  return typeof value === 'string' ? oneLine(htmlText(value)) : ''
}

/** A text with single spaces, cut to a length that a model can use. */
export function oneLine (text: string): string {
  return firstChars(text.replace(/\s+/g, ' ').trim(), fieldChars)
}

/** The address of a result; undefined for what isn't one of the web. */
export function webUrl (value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined
  const url = new URL(value)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}
