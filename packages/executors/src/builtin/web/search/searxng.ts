import { mostResults, type SearchProvider, type WebResult } from './provider.ts'
import { plainText, webUrl } from './result-text.ts'

interface SearxngAnswer {
  results?: Array<{ title?: unknown, url?: unknown, content?: unknown }>
}

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
  const { results } = JSON.parse(body) as SearxngAnswer
  if (!Array.isArray(results)) throw new Error('no list of results')
  return results.slice(0, mostResults).flatMap(({ title, url, content }): WebResult[] => {
    const target = webUrl(url)
    return target === undefined ? [] : [{ title: plainText(title), url: target, snippet: plainText(content) }]
  })
}
