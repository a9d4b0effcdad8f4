import { mostResults, type SearchProvider, type WebResult } from './provider.ts'
import { plainText, webUrl } from './result-text.ts'

interface BraveAnswer {
  web?: { results?: Array<{ title?: unknown, url?: unknown, description?: unknown }> }
}

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

/** Reads the results of an answer. */
export function readBrave (body: string): WebResult[] {
  const { web } = JSON.parse(body) as BraveAnswer
  return (web?.results ?? []).slice(0, mostResults).flatMap(({ title, url, description }): WebResult[] => {
    const target = webUrl(url)
    return target === undefined ? [] : [{ title: plainText(title), url: target, snippet: plainText(description) }]
  })
}
