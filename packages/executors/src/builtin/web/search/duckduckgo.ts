import { readHtml } from '../page/html-reader.ts'
import type { SearchProvider, WebResult } from './provider.ts'
import { oneLine, webUrl } from './result-text.ts'

/** DuckDuckGo's page for browsers without scripts, which needs no key. */
export function createDuckDuckGo (endpoint: string): SearchProvider {
  return {
    request (query) {
      const url = new URL(endpoint)
      url.searchParams.set('q', query)
      return { url, headers: { accept: 'text/html' } }
    }
  }
}

/** A part of the page: it begins with an element, and ends with that. */
interface Part {
  element: string
  /** Elements of this name that are open in it, itself included. */
  open: number
}

/** Reads the results of a page: each is a link of class `result__a`, followed by an element of class `result__snippet`. */
export function readDuckDuckGo (html: string): WebResult[] {
  const results: WebResult[] = []
  let field: Part & { name: 'title' | 'snippet' } | undefined
  let advert: Part | undefined
  readHtml(html, {
    open (element, attributes) {
      for (const part of [field, advert]) if (part?.element === element) part.open += 1
      const names = new Set((attributes.get('class') ?? '').split(/\s+/))
      if (names.has('result--ad')) advert ??= { element, open: 1 }
      if (field !== undefined || advert !== undefined) return
      if (names.has('result__a')) {
        field = { name: 'title', element, open: 1 }
        results.push({ title: '', url: targetOf(attributes.get('href')) ?? '', snippet: '' })
      } else if (names.has('result__snippet')) {
        field = { name: 'snippet', element, open: 1 }
      }
    },
    text (text) {
      const result = results.at(-1)
      if (field !== undefined && result !== undefined) result[field.name] += text
    },
    close (element) {
      for (const part of [field, advert]) if (part?.element === element) part.open -= 1
      if (field?.open === 0) field = undefined
      if (advert?.open === 0) advert = undefined
    }
  }, new Set(['class', 'href']))
  return results.filter(({ url }) => url !== '').map(({ title, url, snippet }) => ({ title: oneLine(title), url, snippet: oneLine(snippet) }))
}

/** Links lead through DuckDuckGo, with the target in `uddg`. */
function targetOf (href: string | undefined): string | undefined {
  if (href === undefined || !URL.canParse(href, 'https://duckduckgo.com')) return undefined
  const url = new URL(href, 'https://duckduckgo.com')
  return webUrl(url.searchParams.get('uddg') ?? url.href)
}
