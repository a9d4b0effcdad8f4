import t from 'tap'
import type { Test } from 'tap'
import type { Outcome, WebSearchPolicy } from '@toolyard/executors'
import { createFixture, outputOf } from '../executors/fixture.ts'
import { startWebServer, type WebServer } from './web-server.ts'

/** A page of the shape that DuckDuckGo's HTML version has. */
const duckduckgoPage = `<!DOCTYPE html><html><body><div id="links" class="results">
<div class="result results_links web-result result--ad"><h2 class="result__title"><a class="result__a" href="https://ads.test/">An advert</a></h2></div>
<div class="result results_links results_links_deep web-result"><div class="links_main">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc&amp;rut=1">First &amp; <b>best</b></a></h2>
<a class="result__url" href="#">example.com</a>
<a class="result__snippet" href="#">A <b>snippet</b>
 of text.</a></div></div>
<div class="result web-result"><h2><a class="result__a" href="https://second.test/page">Second</a></h2><div class="result__snippet">Another.</div></div>
<div class="result web-result"><h2><a class="result__a" href="javascript:alert(1)">Bad</a></h2></div>
</div></body></html>`
const braveAnswer = { type: 'search', web: { type: 'search', results: [{ title: 'First', url: 'https://example.com/', description: 'A <strong>snippet</strong> &amp; more' }, { title: 'Bad', url: 'ftp://x/' }] } }
const searxngAnswer = { query: 'q', number_of_results: 0, results: [{ title: 'First', url: 'https://example.com/', content: 'A snippet', engine: 'x' }] }

async function createSearch (
  t: Test, policy: (url: string) => WebSearchPolicy
): Promise<{ server: WebServer, search: (args: Record<string, unknown>) => Promise<Outcome> }> {
  const server = await startWebServer(t, (request, response) => {
    const url = new URL(request.url ?? '', 'http://x')
    if (url.searchParams.get('q') === 'broken') response.end('<<not an answer')
    else if (url.searchParams.get('q') === 'empty') response.end('{}')
    else if (url.searchParams.get('q') === 'busy') response.writeHead(429).end()
    else if (url.pathname === '/ddg') response.end(duckduckgoPage)
    else response.end(JSON.stringify(url.pathname === '/brave' ? braveAnswer : searxngAnswer))
  })
  const fixture = createFixture(t, { builtins: { webSearch: policy(server.url) } })
  return { server, search: async args => await fixture.runBuiltin('tools.web_search', args) }
}

const all = (url: string): WebSearchPolicy => ({ provider: 'duckduckgo', braveKey: 'the-key', searxngUrl: `${url}/searx`, endpoints: { duckduckgo: `${url}/ddg`, brave: `${url}/brave` } })

t.test('RC42 DuckDuckGo: results come without adverts, and their links lead to the pages directly', async t => {
  const { search, server } = await createSearch(t, all)
  t.same(outputOf(await search({ query: ' the query & more ' })), {
    ok: true,
    query: 'the query & more',
    provider: 'duckduckgo',
    result_count: 2,
    results: [
      { title: 'First & best', url: 'https://example.com/a?b=c', snippet: 'A snippet of text.' },
      { title: 'Second', url: 'https://second.test/page', snippet: 'Another.' }
    ]
  })
  t.equal(server.requests[0]?.url, '/ddg?q=the+query+%26+more')
  t.match(outputOf(await search({ query: 'x', max_results: 1 })), { result_count: 1 })
})

t.test('RC42 Brave: the key comes from the settings and is sent only in a header', async t => {
  const { search, server } = await createSearch(t, all)
  t.match(outputOf(await search({ query: 'x', provider: 'brave', max_results: 5 })), { provider: 'brave', results: [{ title: 'First', url: 'https://example.com/', snippet: 'A snippet & more' }], result_count: 1 })
  t.equal(server.requests[0]?.headers['x-subscription-token'], 'the-key')
  t.equal(server.requests[0]?.url, '/brave?q=x&count=5')
})

t.test('RC42 SearXNG: the operator\'s own server is asked', async t => {
  const { search, server } = await createSearch(t, all)
  t.match(outputOf(await search({ query: 'x', provider: 'searxng' })), { provider: 'searxng', results: [{ title: 'First', snippet: 'A snippet' }] })
  t.equal(server.requests[0]?.url, '/searx/search?q=x&format=json')
})

t.test('RC42 errors are reported, and none contains the key', async t => {
  const { search } = await createSearch(t, url => ({ ...all(url), provider: 'brave' }))
  const message = async (args: Record<string, unknown>): Promise<string> => {
    const outcome = await search(args)
    if (outcome.ok) throw new Error('it should have failed')
    t.notOk(JSON.stringify(outcome).includes('the-key'))
    return outcome.error.message
  }
  t.equal(await message({}), 'query is required')
  t.equal(await message({ query: 'broken' }), 'brave answered with something that is no list of results')
  t.equal(await message({ query: 'busy' }), 'brave answered with status 429')
  const bare = await createSearch(t, url => ({ provider: 'duckduckgo', endpoints: { duckduckgo: `${url}/ddg` } }))
  t.match(await bare.search({ query: 'x', provider: 'brave' }), { ok: false, error: { message: "provider 'brave' is not configured (there is: duckduckgo)" } })
  const searx = await createSearch(t, url => ({ ...all(url), provider: 'searxng' }))
  t.match(await searx.search({ query: 'empty' }), { ok: false, error: { message: 'searxng answered with something that is no list of results' } })
  const gone = createFixture(t, { builtins: { webSearch: { provider: 'searxng', searxngUrl: 'http://127.0.0.1:1' } } })
  t.match(await gone.runBuiltin('tools.web_search', { query: 'x' }), { ok: false, error: { message: 'searxng could not be reached' } })
})
