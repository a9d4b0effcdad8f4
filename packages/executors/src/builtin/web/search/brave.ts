import { isRecord } from '@toolyard/contract/terms'
import { wellFormed } from '../../../run/json.ts'
import type { SearchProvider, WebResult } from './provider.ts'
import { webResults } from './result-text.ts'

/** Brave's search API; `key` travels as a header, never in the address. */
export function createBrave (endpoint: string, key: string): SearchProvider {
  return {
    request (query, count) {
      const url = new URL(endpoint)
      url.searchParams.set('q', query)
      url.searchParams.set('count', String(count))
      return { url, headers: { accept: 'application/json', 'x-subscription-token': key } }
    }
  }
}

/** Reads the results of an answer; none where it has no `web`. @throws Error for one whose results are no list. */
export function readBrave (body: string): WebResult[] {
  const answer: unknown = JSON.parse(wellFormed(body))
  const web = isRecord(answer) ? answer['web'] : undefined
  return webResults(isRecord(web) ? web['results'] ?? [] : [], 'description')
}
