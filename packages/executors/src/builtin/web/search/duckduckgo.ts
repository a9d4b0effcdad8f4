import { Parser } from 'htmlparser2'
import type { SearchProvider, WebResult } from './provider.ts'
import { oneLine, webUrl } from './result-text.ts'

/** DuckDuckGo's page for browsers without scripts, which needs no key. */
export function createDuckDuckGo (endpoint: string): SearchProvider {
  return {
    request (query) {
      const url = new URL(endpoint)
      url.searchParams.set('q', query)
      return { url, headers: { accept: 'text/html' } }
    },
    results: readResults
  }
}

/** A result is a link of class `result__a`, followed by an element of class `result__snippet`. */
function readResults (html: string): WebResult[] {
  const results: WebResult[] = []
  let field: { name: 'title' | 'snippet', element: string, depth: number } | undefined
  let advert = 0
  let depth = 0
  const parser = new Parser({
    onopentag (element, { class: classes = '', href }) {
      const names = new Set(classes.split(/\s+/))
      depth += 1
      if (advert === 0 && names.has('result--ad')) advert = depth
      if (field !== undefined || advert > 0) return
      if (names.has('result__a')) {
        field = { name: 'title', element, depth }
        results.push({ title: '', url: targetOf(href) ?? '', snippet: '' })
      } else if (names.has('result__snippet')) {
        field = { name: 'snippet', element, depth }
      }
    },
    ontext (text) {
      const result = results.at(-1)
      if (field !== undefined && result !== undefined) result[field.name] += text
    },
    onclosetag () {
      if (field?.depth === depth) field = undefined
      if (advert === depth) advert = 0
      depth -= 1
    }
  }, { decodeEntities: true })
  parser.end(html)
  return results.filter(({ url }) => url !== '').map(({ title, url, snippet }) => ({ title: oneLine(title), url, snippet: oneLine(snippet) }))
}

/** Links lead through DuckDuckGo, with the target in `uddg`. */
function targetOf (href: string | undefined): string | undefined {
  if (href === undefined || !URL.canParse(href, 'https://duckduckgo.com')) return undefined
  const url = new URL(href, 'https://duckduckgo.com')
  return webUrl(url.searchParams.get('uddg') ?? url.href)
}
