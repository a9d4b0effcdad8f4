import fc from 'fast-check'
import { createServer } from 'node:http'
import t from 'tap'
import type { Outcome, RunContext } from '@toolyard/executors'
import { isRecord, readJson } from '@toolyard/contract/terms'
import type { HttpRun } from '@toolyard/manifests'
import { whole } from './fixture.ts'
import { anyCharacter } from '../support/any-character.ts'
import { listening } from '../support/listening.ts'
import { openExecutors, testTool } from '../support/tool.ts'

/** The last request: its line, its headers and its body. */
let last: { method: string, url: string, headers: NodeJS.Dict<string | string[]>, raw: string[], body: string } | undefined
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk as Buffer)).on('end', () => {
    last = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, raw: request.rawHeaders, body: Buffer.concat(chunks).toString() }
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
const origin = `http://127.0.0.1:${await listening(t, server)}`
const executors = openExecutors(t, { env: { PATH: process.env['PATH'], KEY: 'the-key-value', API_KEY: 'of-the-service', BROKEN: 'a\nb' } })
const context = { jobId: 'job-1', timeoutMs: 20_000, signal: new AbortController().signal, log: () => {} }

async function call (run: Partial<HttpRun>, args: Record<string, unknown>, more: Partial<RunContext> = {}): Promise<Outcome> {
  last = undefined
  const request: HttpRun = { kind: 'http', method: 'GET', origin, path: ['/'], search: '', query: [], headers: [], body: { kind: 'none', always: false }, ...run }
  return whole(await executors.run(testTool(request, { name: 'probe', permissions: ['network'] }), args, { ...context, ...more }))
}

t.test("a body has the arguments' digits and their order, without those that stand elsewhere", async t => {
  const args = readJson('{"id":725653563933458432,"q":1.0,"2":1e2,"1":{"b":-0,"0":1},"a":5}')
  if (!isRecord(args)) throw new Error('It is an object')
  await call({ method: 'POST', path: ['/', { argument: 'a' }], body: { kind: 'json', always: false } }, args)
  t.equal(last?.url, '/5')
  t.equal(last?.body, '{"id":725653563933458432,"q":1.0,"2":1e2,"1":{"b":-0,"0":1}}')
})

t.test('a request of a trace has the trace\'s headers, unless the entry sets them; one without a trace has none', async t => {
  const variables = { TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', TRACESTATE: 'vendor=opaque' }
  await call({}, {}, { trace: { variables } })
  t.match(last?.headers, { traceparent: variables.TRACEPARENT, tracestate: 'vendor=opaque' })
  await call({ headers: [{ name: 'Traceparent', parts: ['own'] }] }, {}, { trace: { variables } })
  t.equal(last?.headers['traceparent'], 'own')
  await call({}, {})
  t.equal(last?.headers['traceparent'], undefined)
})

const nasty = fc.oneof(
  fc.string(), fc.string({ unit: anyCharacter }), fc.constantFrom('..', '.', '%2e%2e', '/', '\\', '?', '#', '@evil', '://', '\r\n', '..%2f', 'a/../b', '&x=1', ';', '\ud800', '\u0000'),
  fc.array(fc.constantFrom('.', '/', '%', '2', 'e', '\\', '?', '#', '&', '=', '\t', '\r', '\n', 'x', 'é')).map(parts => parts.join(''))
)

t.test('no argument changes the host, the depth of the path or the query, whatever it holds', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(nasty, nasty, async (first, second) => {
    const outcome = await call({ path: ['/v1/', { argument: 'first' }, '/x.', { argument: 'second' }, '/end'], search: '?fixed=1', query: [{ name: 'q', argument: 'second', style: 'repeat' }] }, { first, second })
    if (!outcome.ok) {
      if (outcome.error.code !== 'INVALID_ARGUMENTS') throw new Error(JSON.stringify(outcome))
      // Nothing was sent.
      return last === undefined
    }
    const [path = '', query = '', ...more] = last?.url.split('?') ?? []
    const segments = path.split('/').slice(1)
    const fields = query.split('&')
    return last?.headers['host'] === new URL(origin).host && more.length === 0 && segments.length === 4 && decodeURIComponent(segments[1] ?? '') === first &&
      decodeURIComponent(segments[2] ?? '') === `x.${second}` && fields.length === 2 && fields[0] === 'fixed=1' && decodeURIComponent(fields[1] ?? '') === `q=${second}`
  }), { numRuns: 300 }))
})

t.test('no argument makes a second header, or changes one of the connection', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(nasty, async value => {
    const outcome = await call({ headers: [{ name: 'X-Trace', parts: ['id ', { argument: 'value' }] }] }, { value })
    if (!outcome.ok) return outcome.error.code === 'INVALID_ARGUMENTS' && last === undefined
    const names = last?.raw.filter((_, at) => at % 2 === 0).map(name => name.toLowerCase()).sort()
    return JSON.stringify(names) === JSON.stringify(['accept', 'accept-encoding', 'connection', 'host', 'user-agent', 'x-trace'])
  }), { numRuns: 200 }))
})

t.test('lists and objects of a query are written as their style says', async t => {
  const list = ['a b', 'c&d', 3, null]
  for (const [style, expected] of [
    ['repeat', 'f=a%20b&f=c%26d&f=3'], ['comma', 'f=a%20b,c%26d,3'], ['space', 'f=a%20b%20c%26d%203'], ['pipe', 'f=a%20b|c%26d|3'], ['json', `f=${encodeURIComponent(JSON.stringify(list))}`]
  ] as const) {
    await call({ query: [{ name: 'f', argument: 'list', style }] }, { list })
    t.equal(last?.url, `/?${expected}`, style)
  }
  await call({ query: [{ name: 'f', argument: 'object', style: 'deepObject' }] }, { object: { a: 1, b: { c: ['x', 'y'] }, none: null } })
  t.equal(last?.url, `/?${['f[a]=1', 'f[b][c][0]=x', 'f[b][c][1]=y'].map(part => part.split('=').map(encodeURIComponent).join('=')).join('&')}`)
  await call({ query: [{ name: 'f', argument: 'absent', style: 'repeat' }] }, { absent: null, empty: [] })
  t.equal(last?.url, '/')
})

t.test('objects in a list are JSON, each by itself, in the query and in a form', async t => {
  const list = [{ a: 1, b: 'x y' }, { a: 2 }, ['z'], 'text']
  const expected = list.map(item => `f=${encodeURIComponent(typeof item === 'string' ? item : JSON.stringify(item))}`).join('&')
  await call({ query: [{ name: 'f', argument: 'list', style: 'repeat' }] }, { list })
  t.equal(last?.url, `/?${expected}`)
  await call({ method: 'POST', body: { kind: 'form', always: true } }, { f: list })
  t.equal(last?.body, expected)
})

t.test('a list in a path has commas between its values, which differ from those in them', async t => {
  await call({ path: ['/ids/', { argument: 'ids' }, '/rows'] }, { ids: ['a', 'b,c', 3, '..'] })
  t.equal(last?.url, '/ids/a,b%2Cc,3,../rows')
})

t.test('arguments that have no place go to the body of the method, or to the query', async t => {
  await call({ method: 'GET' }, { a: 1, b: [true, false], c: { d: 'e' } })
  t.equal(last?.url, '/?a=1&b=true&b=false&c%5Bd%5D=e')
  await call({ method: 'PATCH', path: ['/', { argument: 'id' }], body: { kind: 'json', always: false } }, { id: 1, a: null, ['__proto__']: 'x' })
  t.match(last, { method: 'PATCH', url: '/1', headers: { 'content-type': 'application/json' }, body: '{"a":null,"__proto__":"x"}' })
  await call({ method: 'POST', body: { kind: 'json', always: false } }, {})
  t.match(last, { body: '' })
  await call({ method: 'POST', body: { kind: 'json', always: true } }, {})
  t.match(last, { body: '{}' })
  await call({ method: 'POST', body: { kind: 'json', always: true, argument: 'items' } }, { items: [1, 2], page: 3 })
  t.match(last, { url: '/?page=3', body: '[1,2]' })
  await call({ method: 'POST', body: { kind: 'form', always: true } }, { a: 'x y&z', b: ['1', '2'], c: { d: 1 } })
  t.match(last, { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=x%20y%26z&b=1&b=2&c%5Bd%5D=1' })
  const styles = { a: 'deepObject', b: 'comma', c: 'json', toString: 'pipe' } as const
  await call({ method: 'POST', body: { kind: 'form', always: true, styles } }, { a: [{ x: 1 }, { x: 2 }], b: ['1', '2'], c: { d: 1 }, e: ['1', '2'] })
  t.equal(decodeURIComponent(last?.body ?? ''), 'a[0][x]=1&a[1][x]=2&b=1,2&c={"d":1}&e=1&e=2')
})

t.test('more values than a URL, a header or a form takes are refused, and nothing is sent; a JSON body takes them', async t => {
  const many = Array.from({ length: 10_001 }, () => 1)
  const nested = Array.from({ length: 101 }, () => many.slice(0, 100))
  const places: Record<string, Partial<HttpRun>> = {
    path: { path: ['/', { argument: 'many' }] },
    query: { query: [{ name: 'q', argument: 'many', style: 'comma' }] },
    'deep query': { query: [{ name: 'q', argument: 'many', style: 'deepObject' }] },
    header: { headers: [{ name: 'X-Many', parts: [{ argument: 'many' }] }] },
    form: { method: 'POST', body: { kind: 'form', always: true } }
  }
  for (const [where, run] of Object.entries(places)) {
    for (const value of [many, nested]) {
      t.match(await call(run, { many: value }), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /holds more than 10000 values/ } }, where)
      t.equal(last, undefined)
    }
  }
  t.match(await call({ method: 'POST', body: { kind: 'json', always: true } }, { many }), { ok: true })
})

t.test('secrets come from the environment of the worker, and are never those of the service', async t => {
  await call({ headers: [{ name: 'Authorization', setting: 'KEY', prefix: 'Basic ', base64: true }], query: [{ name: 'key', setting: 'KEY' }] }, {})
  t.match(last, { url: '/?key=the-key-value', headers: { authorization: `Basic ${Buffer.from('the-key-value').toString('base64')}` } })
  for (const setting of ['API_KEY', 'NOT_THERE', 'BROKEN']) {
    t.match(await call({ headers: [{ name: 'X-Key', setting, prefix: '', base64: false }] }, {}), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: new RegExp(setting) } }, setting)
    t.equal(last, undefined)
  }
})
