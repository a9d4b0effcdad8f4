import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { ExecutorOptions, Outcome } from '@toolyard/executors'
import type { HttpRun } from '@toolyard/manifests'
import { startWebServer, type WebServer } from '../builtin/web-server.ts'
import { listening } from '../support/listening.ts'
import { openExecutors, testTool } from '../support/tool.ts'
import { whole } from './fixture.ts'

const maxOutputBytes = 100_000
type Policy = NonNullable<ExecutorOptions['http']>

type Call = (url: string, run?: Partial<HttpRun>, timeoutMs?: number) => Promise<Outcome>
type Answers = Record<string, (response: ServerResponse, request: IncomingMessage) => void>

/** Calls of HTTP tools that may reach a host which this name stands for. */
function caller (t: Test, policy: Partial<Policy> = {}, env: NodeJS.ProcessEnv = {}): Call {
  const lookup: Policy['lookup'] = (_host, _options, callback) => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }
  const executors = openExecutors(t, { env, maxOutputBytes, http: { privateHosts: ['api.test', '127.0.0.1'], lookup, ...policy } })
  return async (text, run = {}, timeoutMs = 20_000) => {
    const url = new URL(text)
    const request: HttpRun = { kind: 'http', method: 'GET', origin: url.origin, path: [url.pathname], search: url.search, query: [], headers: [], body: { kind: 'none', always: false }, ...run }
    return whole(await executors.run(testTool(request), {}, { jobId: 'job-1', timeoutMs, signal: new AbortController().signal, log: () => {} }))
  }
}

async function serve (t: Test, answers: Answers): Promise<WebServer & { site: string }> {
  const server = await startWebServer(t, (request, response) => { answers[request.url ?? '']?.(response, request) })
  return { ...server, site: `http://api.test:${server.port}` }
}

/** A server that writes bytes of its own. */
async function serveRaw (t: Test, answer: (socket: Socket) => void): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => { answer(socket) })
  })
  await listening(t, server)
  return `http://api.test:${(server.address() as AddressInfo).port}/`
}

const typed = (type: string, body: string | Buffer, encoding?: string) => (response: ServerResponse): void => {
  response.writeHead(200, { ...(type === '' ? {} : { 'content-type': type }), ...(encoding === undefined ? {} : { 'content-encoding': encoding }) }).end(body)
}

t.test('JSON gives its value, text gives text in its charset, an empty body gives {}, and anything else is OUTPUT_INVALID', async t => {
  const { site } = await serve(t, {
    '/json': typed('application/problem+json', '{"a":[1,"é"]}'),
    '/java': typed('application/json;charset=ISO-8859-1', Buffer.from('{"a":"caf\xe9"}', 'latin1')),
    '/utf8': typed('application/json;charset=ISO-8859-1', '{"a":"café"}'),
    '/utf16': typed('application/json; charset=utf-16le', Buffer.from('{"a":"café"}', 'utf16le')),
    '/liar': typed('application/json', 'not json'),
    '/text': typed('text/plain', ' 12 '),
    '/latin': typed('text/plain; charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1')),
    '/xml': typed('application/xml', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>caf\xe9</a>', 'latin1')),
    '/none': typed('', '{"a":1}'),
    '/empty': typed('application/json', ''),
    '/octets': typed('application/octet-stream', Buffer.from([0, 1, 2, 255])),
    '/pdf': typed('application/pdf', Buffer.from('%PDF-1.7\n\xff\xfe', 'latin1'))
  })
  const call = caller(t)
  const output = async (path: string): Promise<unknown> => await call(`${site}${path}`)
  t.match(await output('/json'), { ok: true, output: { a: [1, 'é'] } })
  for (const path of ['/java', '/utf8', '/utf16']) t.match(await output(path), { ok: true, output: { a: 'café' } }, path)
  t.match(await output('/liar'), { ok: true, output: 'not json' })
  t.match(await output('/text'), { ok: true, output: ' 12 ' })
  t.match(await output('/latin'), { ok: true, output: 'café' })
  t.match(await output('/xml'), { ok: true, output: /<a>café<\/a>/ })
  t.match(await output('/none'), { ok: true, output: { a: 1 } })
  t.match(await output('/empty'), { ok: true, output: {} })
  for (const path of ['/octets', '/pdf']) t.match(await output(path), { ok: false, error: { code: 'OUTPUT_INVALID' } }, path)
})

t.test('a flood, a compression bomb and a body of 1 MB are read up to the bound, and the output is the part that was read', async t => {
  const call = caller(t)
  const flood = await serveRaw(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n')
    const more = (): void => { while (!socket.destroyed && socket.write('x'.repeat(65_536))); }
    socket.on('drain', more)
    more()
  })
  t.match(await call(flood), { ok: true, output: 'x'.repeat(maxOutputBytes), cut: { storedBytes: maxOutputBytes } })
  const bomb = Buffer.alloc(50_000_000, 'b')
  const { site } = await serve(t, {
    '/gzip': typed('text/plain', gzipSync(bomb), 'gzip'),
    '/br': typed('application/json', brotliCompressSync(bomb), 'br'),
    '/odd': typed('text/plain', 'x', 'zstd'),
    '/inherited': typed('text/plain', 'x', '__proto__'),
    '/large': typed('application/json', JSON.stringify(Array.from({ length: 9_000 }, () => 'é1')))
  })
  t.match(await call(`${site}/gzip`), { ok: true, cut: { storedBytes: maxOutputBytes } })
  t.match(await call(`${site}/br`), { ok: true, cut: { storedBytes: maxOutputBytes } })
  t.match(await call(`${site}/odd`), { ok: false, error: { code: 'OUTPUT_INVALID', message: 'content-encoding not known: zstd' } })
  t.match(await call(`${site}/inherited`), { ok: false, error: { code: 'OUTPUT_INVALID', message: 'content-encoding not known: __proto__' } })
  t.match(await call(`${site}/large`), { ok: true, output: { length: 9_000 } })
})

t.test('an answer without a body is empty, whatever encoding its header names', async t => {
  const empty = (status: number) => (response: ServerResponse): void => { response.writeHead(status, { 'content-encoding': 'gzip' }).end() }
  const { site } = await serve(t, { '/ok': empty(200), '/none': empty(204), '/late': empty(503) })
  const call = caller(t)
  for (const [path, method] of [['/ok', 'HEAD'], ['/ok', 'GET'], ['/none', 'DELETE']] as const) t.match(await call(`${site}${path}`, { method }), { ok: true, output: {} }, `${method} ${path}`)
  t.match(await call(`${site}/late`), { ok: false, error: { code: 'TOOL_FAILED', message: 'the API answered 503 Service Unavailable' } })
})

t.test('servers that break off, lie about the length, or speak something else are TOOL_FAILED', async t => {
  const call = caller(t)
  for (const [what, bytes] of Object.entries({
    'content-length too long': 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nshort',
    'no HTTP': 'SSH-2.0-x\r\n',
    'nothing at all': '',
    'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'endless head': `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}`
  })) {
    const url = await serveRaw(t, socket => { socket.end(bytes) })
    t.match(await call(url), { ok: false, error: { code: 'TOOL_FAILED', message: /^the request failed: [A-Z_]+$/ } }, what)
  }
  t.match(await call('http://127.0.0.1:1/'), { ok: false, error: { code: 'TOOL_FAILED', message: 'the request failed: ECONNREFUSED' } })
})

t.test('a server that never ends its head or its body is TOOL_TIMEOUT', async t => {
  const call = caller(t)
  for (const bytes of ['', 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nbegun']) {
    const url = await serveRaw(t, socket => { socket.write(bytes) })
    t.match(await call(url, {}, 300), { ok: false, error: { code: 'TOOL_TIMEOUT', details: { timeout_sec: 0.3 } } })
  }
})

t.test('redirects are followed only within the origin, and no secret leaves it', async t => {
  const other = await serve(t, { '/end': typed('text/plain', 'elsewhere') })
  const to = (status: number, location: string) => (response: ServerResponse): void => { response.writeHead(status, { location }).end() }
  const { site, requests } = await serve(t, {
    '/near': to(302, '/end'),
    '/end': (response, request) => { response.setHeader('content-type', 'text/plain').end(`${request.method ?? ''} ${request.headers.authorization ?? ''} ${request.headers['content-type'] ?? ''}`) },
    '/far': to(302, `${other.site}/end`),
    '/inside': to(307, 'http://169.254.169.254/latest'),
    '/file': to(302, 'file:///etc/passwd'),
    '/login': to(302, '//user:pw@api.test/end'),
    '/loop': to(302, '/loop'),
    '/see': to(303, '/end'),
    '/again': to(307, '/end'),
    '/moved': to(301, '/end')
  })
  const call = caller(t, {}, { TOKEN: 'not-to-be-seen' })
  const headers: HttpRun['headers'] = [{ name: 'authorization', setting: 'TOKEN', prefix: 'Bearer ', base64: false }]
  t.match(await call(`${site}/near`, { headers }), { ok: true, output: 'GET ***REDACTED*** ' })
  for (const path of ['/far', '/inside', '/file', '/login']) t.match(await call(`${site}${path}`, { headers }), { ok: false, error: { code: 'NOT_ALLOWED', message: /redirects to another origin/ } }, path)
  t.equal(other.requests.length, 0)
  t.match(await call(`${site}/loop`), { error: { code: 'TOOL_FAILED', message: 'more than 5 redirects: name the address that they lead to' } })
  const post: Partial<HttpRun> = { method: 'POST', body: { kind: 'json', always: true }, headers }
  t.match(await call(`${site}/see`, post), { ok: true, output: 'GET ***REDACTED*** ' })
  t.match(await call(`${site}/again`, post), { ok: true, output: 'POST ***REDACTED*** application/json' })
  t.match(await call(`${site}/moved`, post), { ok: false, error: { code: 'TOOL_FAILED', details: { status: 301, headers: { location: '/end' } } } })
  t.equal(requests.at(-1)?.url, '/moved', 'what was posted is not sent again as something else')
})

t.test('a secret is hidden in plain form, in base64 and URL-encoded; a short one, or one in another form, is not', async t => {
  const forms = (secret: string): string[] => [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)]
  const secret = 'open+sesame/99'
  const backwards = [...secret].reverse().join('')
  const { site } = await serve(t, { '/long': typed('text/plain', [...forms(secret), backwards].join(' ')), '/short': typed('text/plain', 'abcde') })
  const headers = [{ name: 'authorization', setting: 'TOKEN', prefix: 'Bearer ', base64: false }]
  t.match(await caller(t, {}, { TOKEN: secret })(`${site}/long`, { headers }), { ok: true, output: `${'***REDACTED*** '.repeat(3)}${backwards}` })
  t.match(await caller(t, {}, { TOKEN: 'abcde' })(`${site}/short`, { headers }), { ok: true, output: 'abcde' })
})

t.test('a secret is hidden in an answer in UTF-16, whatever the answer says of its charset', async t => {
  const secret = 'open+sesame/99'
  const little = Buffer.from(`you sent ${secret}`, 'utf16le')
  const bodies = { little, marked: Buffer.concat([Buffer.from([0xff, 0xfe]), little]), big: Buffer.from(little).swap16() }
  const headers: HttpRun['headers'] = [{ name: 'authorization', setting: 'TOKEN', prefix: '', base64: false }]
  for (const [name, body] of Object.entries(bodies)) {
    for (const type of ['text/plain', 'text/plain; charset=utf-8', 'application/json; charset=utf-8', 'text/plain; charset=utf-16le']) {
      const { site } = await serve(t, { '/ok': typed(type, body), '/no': response => { response.writeHead(400, { 'content-type': type }).end(body) } })
      for (const path of ['/ok', '/no']) {
        const said = JSON.stringify(await caller(t, {}, { TOKEN: secret })(`${site}${path}`, { headers }))
        t.notOk(said.replaceAll('\\u0000', '').includes(secret), `${name} as ${type}: ${said}`)
      }
    }
  }
})

t.test('a secret is hidden where the bound cuts it in two, and where JSON escapes it', async t => {
  const secret = 'open/sésame-0123456789'
  const headers = [{ name: 'authorization', setting: 'TOKEN', prefix: 'Bearer ', base64: false }]
  const cut = (most: number): string => `${'x'.repeat(most - 10)}${secret}, and more`
  const escaped = `{"${secret.replaceAll('/', '\\/').replace('é', '\\u00e9')}":["\\u006f${secret.slice(1)}"]}`
  const { site } = await serve(t, {
    '/cut': typed('text/plain', cut(maxOutputBytes)),
    '/cut/error': response => { response.writeHead(500, { 'content-type': 'text/plain' }).end(cut(65_536)) },
    '/escaped': typed('application/json', escaped),
    '/escaped/error': response => { response.writeHead(500).end(escaped.slice(0, 32)) }
  })
  const call = caller(t, {}, { TOKEN: secret })
  const answers = await Promise.all(['/cut', '/cut/error', '/escaped', '/escaped/error'].map(async path => await call(`${site}${path}`, { headers })))
  for (const answer of answers) t.notMatch(JSON.stringify(answer), /open.{0,2}s|open\\|s.same|6789/, JSON.stringify(answer).slice(-80))
  t.match(answers[2], { ok: true, output: { '***REDACTED***': ['***REDACTED***'] } })
})

t.test('a secret is hidden in what is said of a redirect and of an encoding, which is short', async t => {
  const secret = 'open-Sesame-0123456789'
  const headers = [{ name: 'authorization', setting: 'TOKEN', prefix: 'Bearer ', base64: false }]
  const answering = (status: number, fields: Record<string, string>) => (response: ServerResponse): void => { response.writeHead(status, fields).end('x') }
  const { site } = await serve(t, {
    '/host': answering(302, { location: `https://${secret}.example/` }),
    '/scheme': answering(302, { location: `${secret}:x` }),
    '/tab': answering(302, { location: `https://${secret.replace('-', '\t-')}.example/` }),
    '/encoding': answering(200, { 'content-encoding': secret }),
    '/long-host': answering(302, { location: `https://${'a.'.repeat(4_000)}example/` }),
    '/long-encoding': answering(200, { 'content-encoding': 'z'.repeat(8_000) })
  })
  const call = caller(t, {}, { TOKEN: secret })
  for (const path of ['/host', '/scheme', '/tab', '/encoding', '/long-host', '/long-encoding']) {
    const outcome = await call(`${site}${path}`, { headers })
    t.match(outcome, { ok: false, error: { code: path.endsWith('encoding') ? 'OUTPUT_INVALID' : 'NOT_ALLOWED' } }, path)
    t.notMatch(JSON.stringify(outcome), /sesame/i, path)
    t.ok(JSON.stringify(outcome).length < 500, path)
  }
})

t.test('private addresses are reached only through host names that the operator allows', async t => {
  const { port, requests } = await startWebServer(t, (_request, response) => { response.end('x') })
  const closed = caller(t, { privateHosts: [] })
  for (const host of ['127.0.0.1', 'api.test', '[::1]', '2130706433']) t.match(await closed(`https://${host}:${port}/`), { error: { code: 'NOT_ALLOWED', message: /is not a public host/, details: { hint: /HTTP_PRIVATE_HOSTS/ } } }, host)
  t.match(await closed(`http://api.test:${port}/`), { error: { code: 'NOT_ALLOWED' } })
  const open = caller(t, { privateHosts: ['test'] })
  t.match(await open(`http://api.test:${port}/`), { ok: true, output: 'x' })
  t.match(await open(`https://127.0.0.1:${port}/`), { error: { code: 'NOT_ALLOWED' } })
  t.equal(requests.length, 1)
})
