import { isRecord } from '@toolyard/contract/terms'
import { wellFormed } from '../../../run/json.ts'
import type { SearchProvider, WebResult } from './provider.ts'
import { webResults } from './result-text.ts'

/** A SearXNG server of the operator's choice, whose JSON format must be switched on. */
export function createSearxng (endpoint: string): SearchProvider {
  return {
    request (query) {
      const url = new URL('search', endpoint.endsWith('/') ? endpoint : `${endpoint}/`)
      url.searchParams.set('q', query)
      url.searchParams.set('format', 'json')
      return { url, headers: { accept: 'application/json' } }
    }
  }
}

/** Reads the results of an answer. @throws Error for one without a list of them. */
export function readSearxng (body: string): WebResult[] {
  const answer: unknown = JSON.parse(wellFormed(body))
  return webResults(isRecord(answer) ? answer['results'] : undefined, 'content')
}
