import { once } from 'node:events'
import { createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import t from 'tap'
import type { FetchPolicy } from '@toolyard/executors'
import { createFixture } from '../executors/fixture.ts'
import { startWebServer } from '../builtin/web-server.ts'
import { listening } from '../support/listening.ts'
import { leavesLoopFree } from './longest-turn.ts'
import { worstTexts } from './worst-texts.ts'

const toLoopback: NonNullable<FetchPolicy['lookup']> = (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }
/** Bytes of a page at most, and of one that is read without a thread. */
const sizes = [2_097_152, 65_536]

/** Parts of pages that were slow for one reader of HTML or another, each repeated to the size of a page. */
const parts = ['<b>', '<p>', '<div>', '<li>', '<svg>', '<svg><object>', '<pre>', '</p>', '</div>', '<b></b>', '<', '<!', '<!--', '<!-- -', '&', '&amp;', '&#x10ffff;', '&#', '<a href="', '<a b=c ', '<script>', '<script></', '<title>', '<template>', '</svg>', '\n', '\n ', ' \n', '<br>', '<br/>', '<![CDATA[', '<?', '\u0000']

t.test('promise 10: no fetched page holds up the event loop', async t => {
  let page = ''
  let type = 'text/html'
  const server = await startWebServer(t, (_request, response) => { response.setHeader('content-type', type).end(page) })
  const fixture = createFixture(t, { builtins: { fetch: { allowlist: ['*'], allowHttp: true, allowPrivate: true, lookup: toLoopback } } })
  const fetchPage = (): Promise<unknown> => fixture.runBuiltinOnly('data.fetch', { url: `http://site.test:${server.port}`, max_bytes: 2_097_152 })
  page = 'The modules are loaded with the first call.'
  await fetchPage()
  for (const size of sizes) {
    for (const part of parts) {
      page = part.repeat(size / part.length)
      await leavesLoopFree(t, `${size} bytes of ${JSON.stringify(part)}`, fetchPage)
    }
    page = '<b>'.repeat(size / 8) + '</i></b>'.repeat(size / 16)
    await leavesLoopFree(t, `${size} bytes that open and close`, fetchPage)
    page = '<svg>'.repeat(size / 16) + '</object></iframe>'.repeat(size / 36)
    await leavesLoopFree(t, `${size} bytes that close what isn't open`, fetchPage)
    for (type of ['application/json', 'text/plain; charset=utf-16le']) {
      for (const [what, text] of Object.entries(worstTexts(size - 100))) {
        page = text
        await leavesLoopFree(t, `${size} bytes of ${type}: ${what}`, fetchPage)
      }
    }
    type = 'text/html'
  }
  await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 }), async some => {
    page = some.join('').repeat(2_097_152 / some.join('').length)
    await leavesLoopFree(t, `a page of ${JSON.stringify(some.join(''))}`, fetchPage)
  }), { numRuns: 6 })
})

t.test('promise 10: no answer of a search service holds up the event loop', async t => {
  let answer = ''
  const server = await startWebServer(t, (_request, response) => { response.end(answer) })
  const fixture = createFixture(t, { builtins: { webSearch: { provider: 'duckduckgo', braveKey: 'k', searxngUrl: server.url, endpoints: { duckduckgo: server.url, brave: server.url } } } })
  const search = (provider: string): Promise<unknown> => fixture.runBuiltinOnly('tools.web_search', { query: 'x', provider })
  await search('duckduckgo')
  for (const size of sizes) {
    for (const part of ['<a class="result__a" href="https://x.test/">', '<a class=result__snippet>', '<div class="result--ad">', '<b>', `<b class="${'a '.repeat(1_000)}">`, '&amp;']) {
      answer = part.repeat((size - 100) / part.length)
      await leavesLoopFree(t, `${size} bytes of ${JSON.stringify(part.slice(0, 40))}`, () => search('duckduckgo'))
    }
    const results = `[${'{"title":"<b><b><b>","url":"https://x.test/","content":"&amp;"},'.repeat(size / 65 - 2)}{}]`
    answer = `{"results":${results}}`
    await leavesLoopFree(t, `${size} bytes of results of SearXNG`, () => search('searxng'))
    answer = `{"web":{"results":${results}}}`
    await leavesLoopFree(t, `${size} bytes of results of Brave`, () => search('brave'))
    for (const [what, text] of Object.entries(worstTexts(size - 100))) {
      answer = `{"results":[{"url":"https://x.test/","title":${JSON.stringify(text).slice(0, size - 200)}"}]}`
      await leavesLoopFree(t, `${size} bytes of ${what}`, () => search('searxng'))
    }
  }
})

t.test('promise 10: no server holds up the event loop by the form of its answer', async t => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const answers: Record<string, string> = {
    'chunks of one byte': `${chunked}${'1\r\na\r\n'.repeat(1_000_000)}0\r\n\r\n`,
    'chunks with extensions': `${chunked}${`1;${'a'.repeat(50)};b\r\na\r\n`.repeat(50_000)}0\r\n\r\n`,
    'early answers': `${'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(100_000)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`,
    trailers: `${chunked}2\r\nok\r\n0\r\n${Array.from({ length: 100_000 }, (_, at) => `t${at}: b\r\n`).join('')}\r\n`,
    fields: `HTTP/1.1 200 OK\r\n${Array.from({ length: 100_000 }, (_, at) => `t${at}: b\r\n`).join('')}content-length: 2\r\n\r\nok`
  }
  let answer = ''
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => { socket.end(answer) })
  })
  const port = await listening(t, server)
  const fixture = createFixture(t, { builtins: { fetch: { allowlist: ['*'], allowHttp: true, allowPrivate: true, lookup: toLoopback } } })
  for (const [what, text] of Object.entries(answers)) {
    answer = text
    await leavesLoopFree(t, what, () => fixture.runBuiltinOnly('data.fetch', { url: `http://site.test:${port}`, max_bytes: 2_097_152 }))
  }
  answer = answers['chunks of one byte'] ?? ''
  t.match(await fixture.runBuiltin('data.fetch', { url: `http://site.test:${port}`, max_bytes: 2_097_152 }), { ok: true, output: { bytes_read: 1_000_000, truncated: false } })
})

/** In a thread of its own: a server whose answers never end, in pieces of one byte. */
const flood = `
const { createServer } = require('node:net')
const pieces = '1\\r\\na\\r\\n'.repeat(20_000)
const server = createServer(socket => {
  const send = () => { while (socket.write(pieces)); }
  socket.on('error', () => {}).on('drain', send).once('data', () => { socket.write('HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n'); send() })
}).listen(0, '127.0.0.1', () => { require('node:worker_threads').parentPort.postMessage(server.address().port) })`

t.test('promise 10: 100 servers that flood small pieces at once, as one tenant may have many calls ask, hold up the event loop no longer than one', async t => {
  const thread = new Worker(flood, { eval: true })
  t.teardown(async () => { await thread.terminate() })
  const [port] = await once(thread, 'message') as [number]
  const fixture = createFixture(t, { builtins: { fetch: { allowlist: ['*'], allowHttp: true, allowPrivate: true, lookup: toLoopback } } })
  const fetchPage = (): Promise<unknown> => fixture.runBuiltin('data.fetch', { url: `http://site.test:${port}`, max_bytes: 40_000, timeout_ms: 60_000 })
  await leavesLoopFree(t, '100 floods', async () => {
    const outcomes = await Promise.all(Array.from({ length: 100 }, fetchPage))
    t.ok(outcomes.every(outcome => t.match(outcome, { ok: true, output: { bytes_read: 40_000, truncated: true } })))
  })
})
