import { createHash, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  admin: { name: 'operator' }, read: {}, bound: { permissions: ['network', 'read_repo'] }, acme: { tenant: 'acme' }
})
const audit = mkdtempSync(join(tmpdir(), 'toolyard-audit-'))
t.teardown(() => { rmSync(audit, { recursive: true }) })
const { app, env } = await injectService(t, {
  workers: 0,
  env: {
    AUDIT_DIR: audit,
    API_KEYS_JSON
  }
})
const workspace = String(env['WORKSPACE_DIR'])
const at = (...names: string[]): string => join(workspace, ...names)
const url = await app.listen({ port: 0, host: '127.0.0.1' })
type Options = RequestInit & { key?: string, duplex?: 'half' }
const ask = async (method: string, path: string, { key = testKeys.admin, headers, ...rest }: Options = {}): Promise<Response> => {
  return await fetch(`${url}/v1/files${path}`, { method, headers: { 'x-api-key': key, ...headers as Record<string, string> }, ...rest })
}
const put = async (path: string, body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}): Promise<Response> => await ask('PUT', path, { body, headers })
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const own = (directory: string): string[] => readdirSync(directory).filter(name => name.startsWith('.toolyard-'))
const codeOf = async (answer: Response): Promise<string> => `${answer.status} ${(await answer.json() as { error: { code: string } }).error.code}`

t.test('a file is stored, and read back byte for byte', async t => {
  const bytes = randomBytes(300_000)
  const made = await put('/in/deep/data.bin', bytes)
  t.equal(made.status, 201)
  const { file } = await made.json() as { file: { etag: string } }
  t.match(file, { path: 'in/deep/data.bin', size: 300_000, type: 'application/octet-stream', sha256: sha256(bytes) })
  t.equal(made.headers.get('etag'), file.etag)
  t.ok(readFileSync(at('in/deep/data.bin')).equals(bytes))
  const read = await ask('GET', '/in/deep/data.bin', { key: testKeys.read })
  t.ok(Buffer.from(await read.arrayBuffer()).equals(bytes))
  t.equal(read.headers.get('etag'), file.etag)
  t.equal(read.headers.get('content-length'), '300000')
  t.equal((await put('/in/deep/data.bin', 'new')).status, 200, 'replaced')
  t.equal(readFileSync(at('in/deep/data.bin'), 'utf8'), 'new')
  t.equal((await put('/empty', '')).status, 201)
  t.equal((await (await ask('GET', '/empty')).text()), '')
  t.equal((await put('/json.json', '{"a":', { 'content-type': 'application/json' })).status, 201, 'nothing is parsed')
})

t.test('a browser downloads a file, or shows it without running anything of it', async t => {
  await put('/page.html', '<script>fetch("/v1/keys")</script>')
  await put(`/${encodeURIComponent('ein "Bild" ü.png')}`, 'x')
  const page = await ask('GET', '/page.html')
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.match(page.headers.get('content-security-policy'), /sandbox/)
  t.equal(page.headers.get('x-content-type-options'), 'nosniff')
  t.match(page.headers.get('content-disposition'), /^attachment; filename="page.html"/)
  const image = await ask('GET', `/${encodeURIComponent('ein "Bild" ü.png')}`)
  t.equal(image.headers.get('content-disposition'), "inline; filename=\"ein _Bild_ _.png\"; filename*=UTF-8''ein%20%22Bild%22%20%C3%BC.png")
})

t.test('HEAD gives the headers of GET without the content', async t => {
  await put('/head.txt', 'four')
  const head = await ask('HEAD', '/head.txt')
  t.equal(head.status, 200)
  t.equal(head.headers.get('content-length'), '4')
  t.equal(head.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.equal(await head.text(), '')
  t.equal((await ask('HEAD', '/no-such')).status, 404)
})

t.test('parts of a file are read by ranges', async t => {
  const tag = (await put('/ten', '0123456789')).headers.get('etag') ?? ''
  const part = async (range: string, more: Record<string, string> = {}): Promise<[number, string, string | null]> => {
    const answer = await ask('GET', '/ten', { headers: { range, ...more } })
    return [answer.status, answer.status === 416 ? '' : await answer.text(), answer.headers.get('content-range')]
  }
  t.same(await part('bytes=0-3'), [206, '0123', 'bytes 0-3/10'])
  t.same(await part('bytes=8-'), [206, '89', 'bytes 8-9/10'])
  t.same(await part('bytes=-2'), [206, '89', 'bytes 8-9/10'])
  t.same(await part('bytes=-99'), [206, '0123456789', 'bytes 0-9/10'])
  t.same(await part('bytes=4-999999999999999999999'), [206, '456789', 'bytes 4-9/10'])
  t.same(await part('bytes=10-'), [416, '', 'bytes */10'])
  t.same(await part('bytes=-0'), [416, '', 'bytes */10'])
  for (const ignored of ['bytes=3-1', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=a-b', 'bytes=-']) t.same(await part(ignored), [200, '0123456789', null], ignored)
  t.same(await part('bytes=0-3', { 'if-range': tag }), [206, '0123', 'bytes 0-3/10'])
  t.same(await part('bytes=0-3', { 'if-range': '"another"' }), [200, '0123456789', null])
  await put('/none', '')
  t.equal((await ask('GET', '/none', { headers: { range: 'bytes=0-0' } })).status, 416)
})

t.test('conditions keep two writers from overwriting each other', async t => {
  const first = (await put('/shared', 'one', { 'if-none-match': '*' })).headers.get('etag') ?? ''
  t.equal(await codeOf(await put('/shared', 'two', { 'if-none-match': '*' })), '412 PRECONDITION_FAILED')
  t.equal((await ask('GET', '/shared', { headers: { 'if-none-match': first } })).status, 304)
  const second = await put('/shared', 'two', { 'if-match': first })
  t.equal(second.status, 200)
  t.equal(await codeOf(await put('/shared', 'three', { 'if-match': first })), '412 PRECONDITION_FAILED')
  t.equal(await codeOf(await put('/not-there', 'x', { 'if-match': '*' })), '412 PRECONDITION_FAILED')
  t.equal(await codeOf(await ask('DELETE', '/shared', { headers: { 'if-match': first } })), '412 PRECONDITION_FAILED')
  t.equal(readFileSync(at('shared'), 'utf8'), 'two')
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => put('/race', String(n), { 'if-none-match': '*' })))
  t.equal(answers.filter(({ status }) => status === 201).length, 1, 'one of many makes it')
})

t.test('an upload that breaks off leaves nothing, and the old file stays', async t => {
  await put('/kept', 'old')
  for (const path of ['/kept', '/fresh/below/file']) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`PUT /v1/files${path} HTTP/1.1\r\nHost: a\r\nx-api-key: ${testKeys.admin}\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(200_000)}`)
    await waitFor('a file in the making', () => own(workspace).length > 0)
    socket.destroy()
    await waitFor('nothing of it', () => own(workspace).length === 0)
  }
  t.equal(readFileSync(at('kept'), 'utf8'), 'old')
  t.notOk(existsSync(at('fresh')), 'and no directory was made')
})

t.test('names are checked as strictly as by the tools, and errors give the reason', async t => {
  const names = {
    '/a%0Ab': /control character/,
    [`/${'x'.repeat(300)}`]: /more than 255 bytes/,
    [`/${encodeURIComponent('ü'.repeat(128))}`]: /more than 255 bytes/,
    '/a%2Fb': /a name with a slash/,
    '/%2e%2e%2fetc': /a name with a slash/,
    '/a//b': /an empty name/,
    '/a/': /^The path 'a\/' ends with a slash/,
    '/a//': /an empty name/,
    '/a%00b': /NUL/,
    '/%ff': /./,
    '/%ed%a0%80': /./,
    [`/${'d/'.repeat(80)}f`]: /deeper than 64 levels/
  }
  for (const [path, says] of Object.entries(names)) {
    const answer = await put(path, 'x')
    t.equal(answer.status, 400, path)
    t.match((await answer.json() as { error: { message: string } }).error.message, says)
  }
  t.notOk(existsSync(at('a')))
  for (const path of ['/a/.', '/./a', '/a/%2e/b', '/.']) {
    const sent = request(`${url}/`, { method: 'PUT', path: `/v1/files${path}`, headers: { 'x-api-key': testKeys.admin } }).end('x')
    const [answer] = await once(sent, 'response') as [IncomingMessage]
    t.equal(answer.statusCode, 400, path)
    t.match(await text(answer), /the name \./)
  }
  t.equal((await ask('GET', '/in/')).status, 200, 'a directory may be named so')
  const raw = await app.inject({ method: 'GET', url: '/v1/files/../../etc/passwd', headers: { 'x-api-key': testKeys.admin } })
  t.ok([400, 404].includes(raw.statusCode), 'dots lead nowhere')
  t.equal(await codeOf(await ask('GET', '/no/such/file')), '404 NOT_FOUND')
  t.equal(await codeOf(await ask('GET', '/shared/below')), '404 NOT_FOUND')
  t.equal(await codeOf(await put('/in', 'x')), '409 CONFLICT')
  t.equal(await codeOf(await put('/shared/below', 'x')), '404 NOT_FOUND')
  t.equal(await codeOf(await ask('GET', '/?lines=1')), '400 VALIDATION_ERROR')
  t.equal(await codeOf(await put('/x?archive=tar', 'x')), '400 VALIDATION_ERROR')
  t.equal(await codeOf(await put('/x', 'x', { 'content-range': 'bytes 0-0/9' })), '400 VALIDATION_ERROR')
})

t.test('no link leads out of the workspace, and files of the service can\'t be reached', async t => {
  const outside = mkdtempSync(join(tmpdir(), 'toolyard-outside-'))
  t.teardown(() => { rmSync(outside, { recursive: true }) })
  writeFileSync(join(outside, 'secret'), 'secret')
  symlinkSync(outside, at('way-out'))
  symlinkSync(join(outside, 'secret'), at('link-out'))
  symlinkSync('shared', at('link-in'))
  for (const path of ['/way-out/secret', '/link-out', '/way-out']) {
    const answer = await ask('GET', path)
    t.equal(answer.status, 400, path)
    t.notMatch(await answer.text(), /toolyard-outside/)
  }
  t.equal((await put('/way-out/planted', 'x')).status, 400)
  t.equal((await put('/link-out', 'x')).status, 400)
  t.equal(readFileSync(join(outside, 'secret'), 'utf8'), 'secret')
  t.equal(await (await ask('GET', '/link-in')).text(), 'two', 'a link inside is followed')
  t.equal((await ask('DELETE', '/way-out')).status, 204, 'a link is removed itself')
  t.ok(existsSync(join(outside, 'secret')))
  writeFileSync(join(audit, 'today'), 'a secret')
  linkSync(join(audit, 'today'), at('second-name'))
  t.equal(await codeOf(await ask('GET', '/second-name')), '403 FORBIDDEN')
  t.equal(await codeOf(await put('/second-name', 'x')), '403 FORBIDDEN')
  t.equal(readFileSync(join(audit, 'today'), 'utf8'), 'a secret')
})

t.test('a directory is listed in pages, by name', async t => {
  for (const name of ['c', 'a', 'b.txt']) await put(`/many/${name}`, name)
  await put('/many/sub/below', 'x')
  type Page = { path: string, entries: Array<{ name: string, path: string, type: string, size: number }>, next_cursor: string | null }
  const page = async (query: string): Promise<Page> => await (await ask('GET', `/many${query}`)).json() as Page
  const all = await page('')
  t.same(all.entries.map(({ path, type }) => `${path} ${type}`), ['many/a file', 'many/b.txt file', 'many/c file', 'many/sub directory'])
  t.equal(all.path, 'many')
  const first = await page('/?limit=3')
  t.equal(first.next_cursor, 'c')
  t.same((await page('?limit=3&cursor=c')).entries.map(({ name }) => name), ['sub'])
  t.match(await (await ask('GET', '')).json(), { path: '.' })
  t.equal(await codeOf(await ask('GET', '/many/a?list')), '409 CONFLICT')
})

t.test('a directory is removed with its content only when that is asked for', async t => {
  t.equal(await codeOf(await ask('DELETE', '/many')), '409 CONFLICT')
  t.equal((await ask('DELETE', '/many?recursive=constructor')).status, 400)
  t.equal((await ask('DELETE', '/many?recursive=true')).status, 204)
  t.notOk(existsSync(at('many')))
  t.equal(await codeOf(await ask('DELETE', '/many')), '404 NOT_FOUND')
  t.equal(await codeOf(await ask('DELETE', '/')), '409 CONFLICT')
})

t.test('the shared workspace is only for operators, with the permissions that a tool would need', async t => {
  t.equal(await codeOf(await ask('GET', '/shared', { key: keys.acme })), '403 FORBIDDEN')
  t.equal(await codeOf(await ask('PUT', '/x', { key: testKeys.read, body: 'x' })), '403 FORBIDDEN')
  t.equal((await ask('GET', '/shared', { key: keys.bound })).status, 200)
  t.equal(await codeOf(await ask('PUT', '/x', { key: keys.bound, body: 'x' })), '403 FORBIDDEN')
  t.equal(await codeOf(await ask('GET', '/shared', { key: 'no-such-key-0123456789' })), '401 UNAUTHORIZED')
})

t.test('a file may be larger than any other body, and other routes keep their limit', async t => {
  const bytes = randomBytes(8 * 1_048_576)
  t.match(await (await put('/large', bytes)).json(), { file: { size: bytes.length, sha256: sha256(bytes) } })
  t.ok(Buffer.from(await (await ask('GET', '/large')).arrayBuffer()).equals(bytes))
  const answer = await fetch(`${url}/v1/jobs`, { method: 'POST', headers: { 'x-api-key': testKeys.admin, 'content-type': 'application/json' }, body: `"${'x'.repeat(1_100_000)}"` })
  t.equal(answer.status, 413)
})

t.test('a download whose file becomes shorter breaks off, and is not waited for', { timeout: 20_000 }, async t => {
  writeFileSync(at('shrinks'), Buffer.alloc(50_000_000))
  for (const range of ['', 'bytes=1000-'] as const) {
    truncateSync(at('shrinks'), 50_000_000)
    const answer = await ask('GET', '/shrinks', range === '' ? {} : { headers: { range } })
    t.equal(answer.status, range === '' ? 200 : 206)
    truncateSync(at('shrinks'), 10)
    await t.rejects(answer.arrayBuffer(), { message: 'terminated' })
  }
})
