import { createHash, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  admin: { name: 'operator' },
  acme: { tenant: 'acme' },
  reads: { role: 'read', tenant: 'acme' },
  bound: { tenant: 'acme', permissions: ['read_repo'] },
  other: { tenant: 'other' }
})
const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-sessions-'))
const templates = mkdtempSync(join(tmpdir(), 'toolyard-templates-'))
for (const dir of [sessionsDir, templates]) t.teardown(() => { rmSync(dir, { recursive: true }) })
mkdirSync(join(templates, 'begun'))
writeFileSync(join(templates, 'begun', 'file'), 'from the template')
const service = await injectService(t, {
  workers: 0,
  env: {
    SESSIONS_DIR: sessionsDir,
    SESSION_TEMPLATES_DIR: templates,
    API_KEYS_JSON
  }
})
const { client, app } = service
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const at = (...names: string[]): string => join(sessionsDir, ...names)
const own = (id: string): string[] => existsSync(at(id)) ? readdirSync(at(id)).filter(name => name.startsWith('.toolyard-')) : []
/** Bytes of the disk. */
const taken = (id: string): number => readdirSync(at(id), { recursive: true, encoding: 'utf8' }).reduce((sum, name) => sum + statSync(at(id, name)).blocks * 512, 0)
const make = async (body?: object): Promise<string> => await client.session(keys.acme, body)
const remove = async (id: string): Promise<unknown> => await client.request(`/v1/sessions/${id}`, { method: 'DELETE' })

type Options = RequestInit & { key?: string, duplex?: 'half' }
const ask = async (method: string, path: string, { key = keys.acme, headers, ...rest }: Options = {}): Promise<Response> => {
  return await fetch(`${url}/v1/sessions/${path}`, { method, headers: { 'x-api-key': key, ...headers as Record<string, string> }, ...rest })
}
const put = async (path: string, body: string | Uint8Array, key?: string): Promise<Response> => await ask('PUT', path, { body, ...key !== undefined && { key } })
const codeOf = async (answer: Response): Promise<string> => `${answer.status} ${(await answer.json() as { error: { code: string } }).error.code}`
/** A body of which so many bytes are said to come, and some have. */
async function beginPut (path: string, { length, sent }: { length?: number, sent: number }): Promise<ReturnType<typeof connect>> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const head = `PUT /v1/sessions/${path} HTTP/1.1\r\nHost: a\r\nx-api-key: ${keys.acme}\r\n`
  if (length === undefined) socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${sent.toString(16)}\r\n${'x'.repeat(sent)}\r\n`)
  else socket.write(`${head}Content-Length: ${length}\r\n\r\n${'x'.repeat(sent)}`)
  return socket
}

t.test('a file is stored in a session and read back byte for byte, also by ranges and conditions', async t => {
  const id = await make()
  const bytes = randomBytes(300_000)
  const made = await put(`${id}/files/in/deep/data.bin`, bytes)
  t.match([made.status, await made.json()], [201, { file: { path: 'in/deep/data.bin', size: 300_000, sha256: createHash('sha256').update(bytes).digest('hex') } }])
  t.ok(readFileSync(at(id, 'in/deep/data.bin')).equals(bytes))
  const read = await ask('GET', `${id}/files/in/deep/data.bin`, { key: keys.reads })
  t.ok(Buffer.from(await read.arrayBuffer()).equals(bytes))
  t.equal(read.headers.get('etag'), made.headers.get('etag'))
  const part = await ask('GET', `${id}/files/in/deep/data.bin`, { headers: { range: 'bytes=-10' } })
  t.same([part.status, Buffer.from(await part.arrayBuffer())], [206, bytes.subarray(-10)])
  t.equal((await ask('HEAD', `${id}/files/in/deep/data.bin`)).headers.get('content-length'), '300000')
  t.equal((await ask('GET', `${id}/files/in/deep/data.bin`, { headers: { 'if-none-match': made.headers.get('etag') ?? '' } })).status, 304)
  t.match(await (await ask('GET', `${id}/files/in`)).json(), { path: 'in', entries: [{ path: 'in/deep', type: 'directory' }], count: 1 })
  t.match(await (await ask('GET', `${id}/files`)).json(), { path: '.', entries: [{ name: 'in' }] })
  t.match(await (await put(`${id}/files/in/`, 'x')).json(), { error: { code: 'VALIDATION_ERROR', message: /^The path 'in\/' ends with a slash/ } })
  t.match(await (await put(`${id}/files/new/`, 'x')).json(), { error: { code: 'VALIDATION_ERROR', message: /^The path 'new\/' ends with a slash/ } })
  t.equal((await ask('DELETE', `${id}/files/in?recursive=1`)).status, 204)
  t.same(readdirSync(at(id)), [])
})

t.test('the files of a session are at first those of its template', async t => {
  const id = await make({ from: 'begun' })
  t.equal(await (await ask('GET', `${id}/files/file`)).text(), 'from the template')
})

t.test('for another tenant the files of a session give the same answers as missing ones', async t => {
  const id = await make()
  await put(`${id}/files/secret`, 'x')
  for (const session of [id, '01a00000-0000-7000-8000-000000000000', 'x', '%2E.%2F', `${id}%2F..%2F${id}`]) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await ask(method, `${session}/files/secret`, { key: keys.other, ...method === 'PUT' && { body: 'y' } })
      t.match([answer.status, await answer.json()], [404, { error: { code: 'NOT_FOUND', message: /^Session not found$/ } }], `${method} ${session}`)
    }
  }
  t.equal(readFileSync(at(id, 'secret'), 'utf8'), 'x')
  t.equal(await (await ask('GET', `${id}/files/secret`, { key: testKeys.admin })).text(), 'x', 'an operator reads all')
})

t.test('reading needs the role read, changing needs admin, and both need the permissions of the key', async t => {
  const id = await make()
  await put(`${id}/files/a`, 'x')
  for (const key of [keys.reads, keys.bound]) {
    t.equal((await ask('GET', `${id}/files/a`, { key })).status, 200)
    t.equal(await codeOf(await put(`${id}/files/a`, 'y', key)), '403 FORBIDDEN')
    t.equal(await codeOf(await ask('DELETE', `${id}/files/a`, { key })), '403 FORBIDDEN')
  }
})

t.test('no link leads out of a session', async t => {
  const [id, neighbour] = [await make(), await make()]
  await put(`${neighbour}/files/secret`, 'of another')
  await put(`${id}/files/a`, 'x')
  symlinkSync(at(neighbour, 'secret'), at(id, 'absolute'))
  symlinkSync(`../${neighbour}`, at(id, 'relative'))
  for (const path of ['absolute', 'relative', 'relative/secret']) {
    const answer = await ask('GET', `${id}/files/${path}`)
    t.equal(answer.status, 400, path)
    t.notMatch(await answer.text(), /of another/)
    t.equal((await put(`${id}/files/${path}`, 'y')).status, 400)
  }
  t.equal(readFileSync(at(neighbour, 'secret'), 'utf8'), 'of another')
})

t.test('an upload beyond the quota is refused before or while it comes, and nothing of it stays', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  await put(`${id}/files/kept`, new Uint8Array(400_000))
  const early = await beginPut(`${id}/files/more`, { length: 700_000, sent: 10 })
  t.match(String((await once(early, 'data'))[0]), /^HTTP\/1.1 413 .*QUOTA_EXCEEDED/s, 'by what is said to come')
  early.destroy()
  const late = await beginPut(`${id}/files/deep/more`, { sent: 700_000 })
  t.match(String((await once(late, 'data'))[0]), /^HTTP\/1.1 413 .*QUOTA_EXCEEDED/s, 'by what comes')
  late.destroy()
  t.same(readdirSync(at(id)), ['kept'])
  t.equal((await put(`${id}/files/kept`, new Uint8Array(900_000))).status, 200, 'what is replaced makes room')
  t.equal(await codeOf(await put(`${id}/files/more`, new Uint8Array(200_000))), '413 QUOTA_EXCEEDED')
  t.equal((await ask('DELETE', `${id}/files/kept`)).status, 204)
  t.equal((await put(`${id}/files/more`, new Uint8Array(200_000))).status, 201)
})

t.test('what still comes of a refused upload is dropped, and its connection serves the next request', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  const socket = await beginPut(`${id}/files/more`, { sent: 1_100_000 })
  let answers = ''
  socket.setEncoding('latin1').on('data', (text: string) => { answers += text })
  await waitFor('the refusal', () => answers.includes('QUOTA_EXCEEDED'))
  const rest = 20_000_000
  socket.write(`${rest.toString(16)}\r\n${'x'.repeat(rest)}\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n`)
  await waitFor('the next answer', () => answers.includes('HTTP/1.1 200'))
  t.match(answers, /^HTTP\/1.1 413 .*HTTP\/1.1 200 OK/s)
  socket.destroy()
})

t.test('uploads that come at the same time share one quota', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  const answers = await Promise.all(Array.from({ length: 8 }, async (_, n) => (await put(`${id}/files/f${n}`, new Uint8Array(300_000))).status))
  t.same([answers.filter(status => status === 201).length, answers.filter(status => status === 413).length], [3, 5], 'room is kept for those that came first')
  t.equal(readdirSync(at(id)).length, 3)
})

t.test('an upload that was let in comes whole, whatever is refused meanwhile', async t => {
  const id = await make({ quota_bytes: 3_250_000 })
  await put(`${id}/files/first`, 'x')
  for (let n = 0; n < 400; n++) writeFileSync(at(id, `n${n}`), '')
  const piece = 30_000
  const socket = await beginPut(`${id}/files/large`, { length: 100 * piece, sent: piece })
  const answered = once(socket, 'data')
  await waitFor('a file in the making', () => own(id).length > 0)
  const refusals: Array<Promise<string>> = []
  for (let n = 1; n < 100; n++) {
    refusals.push(put(`${id}/files/m${n}`, new Uint8Array(1_000_000)).then(codeOf))
    socket.write('x'.repeat(piece))
    await turn()
  }
  t.match(String((await answered)[0]), /^HTTP\/1.1 201 /)
  t.same([...new Set(await Promise.all(refusals))], ['413 QUOTA_EXCEEDED'])
  socket.destroy()
})

t.test('what an upload is about to replace is no room for another one', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  await put(`${id}/files/first`, new Uint8Array(900_000))
  const open = await Promise.all(Array.from({ length: 4 }, async () => await beginPut(`${id}/files/first`, { length: 10, sent: 1 })))
  await waitFor('files in the making', () => own(id).length === open.length)
  t.equal(await codeOf(await put(`${id}/files/second`, new Uint8Array(900_000))), '413 QUOTA_EXCEEDED')
  for (const socket of open) socket.destroy()
})

t.test('an upload whose file was made smaller meanwhile is refused where the quota is taken', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  await put(`${id}/files/first`, new Uint8Array(900_000))
  const open = await beginPut(`${id}/files/first`, { length: 900_000, sent: 1 })
  const answered = once(open, 'data')
  await waitFor('a file in the making', () => own(id).length > 0)
  t.equal((await put(`${id}/files/first`, 'small')).status, 200)
  const second = await put(`${id}/files/second`, new Uint8Array(900_000))
  open.write('x'.repeat(899_999))
  t.match(String((await answered)[0]), second.status === 201 ? /^HTTP\/1.1 413 .*QUOTA_EXCEEDED/s : /^HTTP\/1.1 200 /)
  t.ok(taken(id) <= 1_000_000)
  open.destroy()
})

t.test('a hole, and a file that has another name, make no room when they are replaced or removed', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  await put(`${id}/files/first`, new Uint8Array(600_000))
  for (const name of ['second', 'third']) linkSync(at(id, 'first'), at(id, name))
  writeFileSync(at(id, 'hole'), '')
  truncateSync(at(id, 'hole'), 100_000_000)
  const open = await beginPut(`${id}/files/slow`, { length: 10, sent: 1 })
  await waitFor('a file in the making', () => own(id).length > 0)
  t.equal((await ask('DELETE', `${id}/files/third`)).status, 204)
  for (const name of ['second', 'hole', 'fresh']) t.equal(await codeOf(await put(`${id}/files/${name}`, new Uint8Array(600_000))), '413 QUOTA_EXCEEDED', name)
  open.destroy()
})

t.test('small files take whole blocks, also those that come while another upload is open', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  const open = await beginPut(`${id}/files/slow`, { length: 10, sent: 1 })
  await waitFor('a file in the making', () => own(id).length > 0)
  for (let n = 0; n < 150; n++) await put(`${id}/files/d${n}/f`, 'x')
  t.ok(taken(id) < 1_000_000 + 2 * 4_096, 'the last one may end in the next blocks')
  open.destroy()
})

t.test('an upload that breaks off leaves nothing', async t => {
  const id = await make()
  const socket = await beginPut(`${id}/files/fresh/file`, { length: 1_000_000, sent: 200_000 })
  await waitFor('a file in the making', () => own(id).length > 0)
  socket.destroy()
  await waitFor('nothing of it', () => own(id).length === 0)
  t.same(readdirSync(at(id)), [])
})

t.test('the removal of a session ends its uploads and downloads', async t => {
  const id = await make()
  writeFileSync(at((await put(`${id}/files/large`, 'x'), id), 'large'), Buffer.alloc(100_000_000))
  const reading = await ask('GET', `${id}/files/large`)
  const socket = await beginPut(`${id}/files/file`, { length: 1_000_000, sent: 200_000 })
  const answered = once(socket, 'data')
  await waitFor('a file in the making', () => own(id).length > 0)
  await remove(id)
  t.match(String((await answered)[0]), /^HTTP\/1.1 404 .*Session .* is not there any more/s)
  await t.rejects(reading.arrayBuffer())
  t.same(own(id), [])
  t.equal(await codeOf(await ask('GET', `${id}/files/large`)), '409 CONFLICT')
  socket.destroy()
})
