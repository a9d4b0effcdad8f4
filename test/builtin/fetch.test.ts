import fc from 'fast-check'
import type { LookupAddress } from 'node:dns'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import type { FetchPolicy, Outcome } from '@toolyard/executors'
import { createFixture, outputOf } from '../executors/fixture.ts'
import { collectGarbage } from '../support/garbage.ts'
import { startWebServer, type WebServer } from './web-server.ts'

type Lookup = NonNullable<FetchPolicy['lookup']>

const toLoopback: Lookup = (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }
const failed = (message: string, code = 'TOOL_FAILED'): object => ({ ok: false, error: { code, message } })

/** A fetch by a policy that allows `site.test`, by http and on loopback unless told otherwise. */
function createFetch (t: Test, policy: Partial<FetchPolicy> = {}): (args: Record<string, unknown>) => Promise<Outcome> {
  const fixture = createFixture(t, { builtins: { fetch: { allowlist: ['site.test'], allowHttp: true, allowPrivate: true, lookup: toLoopback, ...policy } } })
  return async args => await fixture.runBuiltin('data.fetch', args)
}

async function serve (
  t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void
): Promise<WebServer & { site: string }> {
  const server = await startWebServer(t, answer)
  return { ...server, site: `http://site.test:${server.port}` }
}

t.test('RC40 JSON is parsed and returned with its status', async t => {
  const { site } = await serve(t, (_request, response) => { response.setHeader('content-type', 'application/json; charset=utf-8').end('{"a":[1,"é"]}') })
  t.match(outputOf(await createFetch(t)({ url: `${site}/data?x=1` })), {
    ok: true, status: 200, url: `${site}/data?x=1`, content_type: 'application/json; charset=utf-8', body_text: '{"a":[1,"é"]}', body_json: { a: [1, 'é'] }, truncated: false, bytes_read: 14, duration_ms: Number
  })
})

t.test('RC40 HTML is returned as readable text, or as it is', async t => {
  const html = '<!doctype html><html><head><title>A page</title><style>p{}</style><script>var x = "<p>no</p>"</script></head><body><nav><a href="/">Home</a></nav><h2>Head &amp; line</h2><p>One\n  two<br>three <b>bold</b></p><ul><li>first</li><li>second</li></ul><pre>a\n  b</pre></body></html>'
  const { site } = await serve(t, (_request, response) => { response.setHeader('content-type', 'text/html').end(html) })
  const fetchPage = createFetch(t)
  t.match(outputOf(await fetchPage({ url: site })), { body_text: 'A page\n\nHome\n\n## Head & line\n\nOne two\nthree bold\n\n- first\n- second\n\na\n  b', body_json: null })
  t.match(outputOf(await fetchPage({ url: site, raw: true })), { body_text: html })
})

t.test('RC40 a page of endless nesting, and one in another charset, are read', async t => {
  const { site } = await serve(t, (request, response) => {
    if (request.url === '/deep') response.setHeader('content-type', 'text/html').end(`${'<div>'.repeat(100_000)}text`)
    else if (request.url === '/utf8') response.setHeader('content-type', 'application/json; charset=iso-8859-1').end('{"a":"café"}')
    else response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from('caf\xe9', 'latin1'))
  })
  const fetchPage = createFetch(t)
  t.match(outputOf(await fetchPage({ url: `${site}/deep`, max_bytes: 2_097_152 })), { body_text: 'text' })
  t.match(outputOf(await fetchPage({ url: `${site}/latin` })), { body_text: 'café' })
  t.match(outputOf(await fetchPage({ url: `${site}/utf8` })), { body_json: { a: 'café' } })
})

t.test('RC40 a page that says itself in which charset it is, as older ones of many countries do, is read so', async t => {
  const pages: Record<string, Buffer> = {
    '/japanese': Buffer.concat([Buffer.from('<html><head><META http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>'), Buffer.from('8365835883670a', 'hex')]),
    '/russian': Buffer.concat([Buffer.from('<!doctype html><meta name=x content=y><meta charset=windows-1251><p>'), Buffer.from('cff0e8e2e5f2', 'hex')]),
    '/utf8': Buffer.from('<meta charset="utf-8"><p>café'),
    '/mistaken': Buffer.from('<meta charset="utf-16"><p>café'),
    '/unknown': Buffer.from('<meta charset="nobody-knows"><p>café')
  }
  const { site } = await serve(t, (request, response) => { response.setHeader('content-type', 'text/html').end(pages[request.url ?? '']) })
  const fetchPage = createFetch(t)
  const texts = await Promise.all(Object.keys(pages).map(async path => (outputOf(await fetchPage({ url: `${site}${path}` })) as { body_text: string }).body_text))
  t.same(texts, ['テスト', 'Привет', 'café', 'café', 'café'])
})

t.test('RC40 an answer that isn\'t a success is returned as it is', async t => {
  const { site } = await serve(t, (_request, response) => { response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page') })
  t.match(outputOf(await createFetch(t)({ url: site })), { ok: false, status: 404, body_text: 'no such page' })
})

t.test('RC40 the documented errors', async t => {
  const fetchPage = createFetch(t, { allowHttp: false })
  t.same(await fetchPage({}), failed('url is required'))
  for (const url of ['site.test', '/path', 'https://']) t.same(await fetchPage({ url }), failed('url must be valid absolute URL'))
  for (const url of ['http://site.test', 'ftp://site.test', 'file:///etc/passwd', 'data:text/plain,x']) t.same(await fetchPage({ url }), failed('only https:// URLs are allowed', 'NOT_ALLOWED'), url)
  for (const host of ['other.test', 'site.test.evil.com', 'evilsite.test', 'test', '127.0.0.1']) t.same(await fetchPage({ url: `https://${host}/` }), failed(`domain not allowlisted: ${host}`, 'NOT_ALLOWED'), host)
  t.same(await fetchPage({ url: 'https://user:pass@site.test/' }), failed('url must not hold a user name or password'))
})

t.test('RC40 subdomains of an allowed domain are allowed, in any case', async t => {
  const { port } = await serve(t, (_request, response) => { response.end('x') })
  const fetchPage = createFetch(t, { allowlist: ['*.Site.test', 'port.test'] })
  for (const host of ['site.test', 'a.b.SITE.test', 'site.test.', 'port.test']) t.match(await fetchPage({ url: `http://${host}:${port}` }), { ok: true }, host)
})

t.test('B32 redirects are followed only within the allowlist', async t => {
  const { site, port, requests } = await serve(t, (request, response) => {
    const targets: Record<string, string> = { '/inside': '/end', '/sub': `http://sub.site.test:${port}/end`, '/outside': `http://other.test:${port}/end`, '/scheme': 'file:///etc/passwd', '/loop': '/loop' }
    const location = targets[request.url ?? '']
    if (location === undefined) response.end('the end')
    else response.writeHead(302, { location }).end()
  })
  const fetchPage = createFetch(t)
  t.match(outputOf(await fetchPage({ url: `${site}/inside` })), { url: `${site}/end`, body_text: 'the end' })
  t.match(outputOf(await fetchPage({ url: `${site}/sub` })), { url: `http://sub.site.test:${port}/end` })
  const before = requests.length
  t.same(await fetchPage({ url: `${site}/outside` }), failed('domain not allowlisted: other.test', 'NOT_ALLOWED'))
  t.equal(requests.length, before + 1, 'the other host was not asked')
  t.match(await fetchPage({ url: `${site}/scheme` }), { ok: false, error: { code: 'NOT_ALLOWED' } })
  t.same(await fetchPage({ url: `${site}/loop` }), failed('more than 5 redirects: name the address that they lead to'))
})

t.test('B32 fault 14 fault 44 private addresses are refused, however they are written or named', async t => {
  const { port, requests } = await serve(t, (_request, response) => { response.end('inside') })
  const fetchPage = createFetch(t, { allowPrivate: false, allowlist: ['*'] })
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.1.2.3', '0.0.0.0', '[fd00::1]', '[fe80::1]', '192.168.0.1', '100.64.0.1', '168.63.129.16']) {
    t.match(await fetchPage({ url: `http://${host}:${port}/` }), { ok: false, error: { code: 'NOT_ALLOWED', message: /^address not allowed: / } }, host)
  }
  t.same(await fetchPage({ url: `http://name.test:${port}/` }), failed('address not allowed: name.test is not a public host', 'NOT_ALLOWED'), 'a name that leads inside')
  t.same(requests, [])
})

t.test('B32 fault 44 a name whose address changes between two lookups, or that has two addresses, reaches no private address', async t => {
  const { site, requests } = await serve(t, (_request, response) => { response.end('inside') })
  let asked = 0
  const publicAddress = { address: '203.0.114.1', family: 4 }
  const rebinding: Lookup = (_host, _options, callback) => { callback(null, [asked++ === 0 ? publicAddress : { address: '127.0.0.1', family: 4 }]) }
  const fetchPage = createFetch(t, { allowPrivate: false, lookup: rebinding })
  t.match(await fetchPage({ url: site, timeout_ms: 300 }), { ok: false })
  t.match(await fetchPage({ url: site, timeout_ms: 300 }), { ok: false, error: { code: 'NOT_ALLOWED' } })
  const two: Lookup = (_host, _options, callback) => { callback(null, [publicAddress, { address: '127.0.0.1', family: 4 }] satisfies LookupAddress[]) }
  t.match(await createFetch(t, { allowPrivate: false, lookup: two })({ url: site }), { ok: false, error: { code: 'NOT_ALLOWED' } })
  t.same(requests, [])
})

t.test('B32 property: no private or loopback address is ever public', async t => {
  const octet = fc.integer({ min: 0, max: 255 })
  const inside = fc.oneof(fc.tuple(fc.constantFrom('10', '127', '0'), octet, octet, octet), fc.tuple(fc.constant('192'), fc.constant(168), octet, octet), fc.tuple(fc.constant('169'), fc.constant(254), octet, octet), fc.tuple(fc.constant('172'), fc.integer({ min: 16, max: 31 }), octet, octet))
  const fetchPage = createFetch(t, { allowPrivate: false, allowlist: ['*'] })
  await fc.assert(fc.asyncProperty(inside, fc.boolean(), async (parts, mapped) => {
    const address = parts.join('.')
    const outcome = await fetchPage({ url: `http://${mapped ? `[::ffff:${address}]` : address}:9/`, timeout_ms: 200 })
    return !outcome.ok && outcome.error.code === 'NOT_ALLOWED'
  }), { numRuns: 60 })
  t.pass('all were refused')
})

t.test('B32 RC40 a body is cut while it arrives, and an endless one is given up', async t => {
  const { site } = await serve(t, (_request, response) => {
    response.setHeader('content-type', 'text/plain')
    const timer = setInterval(() => { response.write('x'.repeat(10_000)) }, 1)
    response.on('close', () => { clearInterval(timer) })
  })
  t.match(outputOf(await createFetch(t)({ url: site, max_bytes: 50_000 })), { truncated: true, bytes_read: 50_000, body_text: 'x'.repeat(50_000) })
})

t.test('RC40 a compressed body is decoded within the bound, and an unknown encoding is an error', async t => {
  const { site } = await serve(t, (request, response) => {
    const encoding = request.url?.slice(1) ?? ''
    const json = JSON.stringify({ a: 'é'.repeat(100_000) })
    const bodies: Record<string, Buffer> = {
      gzip: gzipSync(json), br: brotliCompressSync(json), deflate: deflateSync(json), cut: gzipSync(json).subarray(0, 100)
    }
    response.setHeader('content-type', 'application/json').setHeader('content-encoding', encoding === 'cut' ? 'gzip' : encoding).end(bodies[encoding] ?? 'x')
  })
  const fetchPage = createFetch(t)
  for (const encoding of ['gzip', 'br', 'deflate']) t.match(outputOf(await fetchPage({ url: `${site}/${encoding}` })), { body_json: { a: 'é'.repeat(100_000) }, truncated: false, bytes_read: 200_008 }, encoding)
  t.match(outputOf(await fetchPage({ url: `${site}/gzip`, max_bytes: 1_000 })), { truncated: true, bytes_read: 1_000, body_json: null })
  t.same(await fetchPage({ url: `${site}/zstd` }), failed('content-encoding not known: zstd'))
  t.same(await fetchPage({ url: `${site}/cut` }), failed('data.fetch failed: Z_BUF_ERROR'))
})

t.test('RC40 a server that does not answer in time is an error, also when garbage is collected meanwhile', async t => {
  const { site } = await serve(t, collectGarbage)
  t.same(await createFetch(t)({ url: site, timeout_ms: 200 }), failed('data.fetch timeout after 200ms'))
})
