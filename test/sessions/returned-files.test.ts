import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { CallResult } from '@toolyard/contract'
import { startWebServer } from '../builtin/web-server.ts'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService } from '../support/service.ts'

t.setTimeout(180_000)

const shell = '#!/bin/sh\nread -r line\neval "$(printf %s "$line" | sed -e \'s/^{"script":"//\' -e \'s/"}$//\')"\n'
const python = `import pathlib
from toolyard import Tool

class Return(Tool):
    def execute(self, kind):
        if kind == "path":
            chart = pathlib.Path.cwd() / "chart.png"
            chart.write_bytes(b"\\x89PNG\\r\\n\\x1a\\nrest")
            return {"chart": chart, "rows": 3}
        if kind == "bytes":
            return [b"%PDF-1.7", bytearray(b"\\xff\\xfe")]
        if kind == "large":
            pathlib.Path("a").write_text("x")
            return {"files": [pathlib.Path("a")], "rest": ["y" * 10] * 9000}
        return pathlib.Path(kind)
`
const png = Buffer.from('89504e470d0a1a0a72657374', 'hex')
const drawing = (text: string): Buffer => Buffer.concat([png, Buffer.from(`{"text":"${text}"}`)])
const api = await startWebServer(t, (request, response) => {
  const large = Buffer.concat([png, Buffer.alloc(200_000)])
  const echo = Buffer.concat([large, Buffer.from(String(request.headers['x-token'])), png])
  response.writeHead(200, { 'content-type': 'image/png' }).end({ '/image': png, '/large': large, '/echo': echo }[request.url ?? ''])
})
const site = `http://127.0.0.1:${api.port}`
const service = await createService(t, {
  files: {
    'tools/bin/shell': shell,
    'tools/bin/print': '#!/bin/sh\nexec cat output\n',
    'tools/bin/draw': '#!/bin/sh\nprintf "\\211PNG\\r\\n\\032\\nrest"\nread -r line\nprintf %s "$line"\n',
    'workspace/of-workspace': 'shared',
    'bundle/return.py': python,
    'bundle/manifest.json': bundleOf({ name: 'py_return', description: 'Returns files', module: 'return', inputs: { kind: { type: 'string' } }, permissions: ['read_repo', 'write_files'] })
  },
  tools: [
    { name: 'shell', schema: { type: 'object' }, command: ['./tools/bin/shell'] },
    { name: 'print', schema: { type: 'object' }, command: ['./tools/bin/print'], permissions: ['read_repo'] },
    { name: 'draw', schema: { type: 'object', properties: { text: { type: 'string' } } }, command: ['./tools/bin/draw'], permissions: [] },
    { name: 'image', http: { method: 'GET', url: `${site}/image` } },
    { name: 'large_image', http: { method: 'GET', url: `${site}/large` }, limits: { outputBytes: 5_000 } },
    { name: 'echo', http: { method: 'GET', url: `${site}/echo`, headers: { 'x-token': { setting: 'IMAGE_TOKEN' } } } }
  ],
  env: { HTTP_PRIVATE_HOSTS: '127.0.0.1', IMAGE_TOKEN: 'token-of-images-51c7' },
  manifests: ['tools.json', 'bundle/manifest.json']
})
const { client } = service
const placeOf = (id: string, name: string): string => join(service.dir, 'sessions', id, name)
const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

async function call (session: string | undefined, name: string, args: object = {}): Promise<CallResult> {
  return await client.call(name, args, { wait_ms: 60_000, session })
}

/** The outcome of a command that prints this, with the session's files as they are. */
async function print (id: string, output: unknown): Promise<CallResult> {
  await call(id, 'shell', { script: 'true' })
  writeFileSync(placeOf(id, 'output'), Buffer.isBuffer(output) ? output : JSON.stringify(output))
  return await call(id, 'print')
}

t.test('a command may return files anywhere in its output, and the answer describes them', async t => {
  const id = await client.session()
  await call(id, 'shell', { script: 'mkdir sub; echo 1,2 > sub/a.csv; ln -s sub/a.csv link' })
  const csv = { $file: 'sub/a.csv', size: 4, type: 'text/csv', sha256: hashOf('1,2\n') }
  t.same((await print(id, { $file: 'sub/a.csv' })).output, csv)
  t.same((await print(id, { list: [{ $file: './sub/../sub/a.csv' }, 7], of: { $file: 'link' } })).output, { list: [csv, 7], of: csv })
  t.same((await print(id, csv)).output, csv, 'a reference can be returned again')
  t.same((await print(id, { $file: 'x', other: 1 })).output, { $file: 'x', other: 1 }, 'what is no reference stays')
})

t.test('a returned file that is missing, outside the session or no file is refused by its name', async t => {
  const id = await client.session()
  const other = await client.session()
  await call(other, 'shell', { script: 'echo secret > secret' })
  await call(id, 'shell', { script: `mkdir dir; mkfifo pipe; ln -s /etc/passwd out; ln -s ${placeOf(other, 'secret')} theirs; ln -s loop loop` })
  const long = 'n'.repeat(300)
  const paths = ['missing', 'dir', 'pipe', 'out', 'theirs', 'loop', '../x', '/etc/passwd', placeOf(other, 'secret'), `${placeOf(id, '')}../${other}/secret`, long, 'a\nb', '', 'a\0b']
  for (const path of paths) {
    const result = await print(id, { file: { $file: path } })
    t.match(result, { ok: false, error: { code: 'OUTPUT_INVALID', message: /returns the file/ } }, JSON.stringify(path).slice(0, 80))
    t.ok(result.error?.message.includes(JSON.stringify(path).slice(0, 100)), 'it is named')
  }
  t.notMatch(JSON.stringify(await print(id, { $file: '/etc/passwd' })), /sha256|root:/)
  t.match(await print(id, Array.from({ length: 101 }, () => ({ $file: 'output' }))), { ok: false, error: { code: 'OUTPUT_INVALID', message: /more than 100/ } })
})

t.test('binary output of a command is a file of its session', async t => {
  const id = await client.session()
  const result = await print(id, png)
  t.same(result.output, { $file: 'stdout.bin', size: 12, type: 'image/png', sha256: hashOf(png) })
  t.same(readFileSync(placeOf(id, 'stdout.bin')), png)
})

t.test('a file that a call has stored stays as it is when a later call stores another one', async t => {
  const id = await client.session()
  for (const time of ['first', 'again']) t.match((await print(id, png)).output, { $file: 'stdout.bin' }, time)
  const other = Buffer.concat([png, png])
  const named = `stdout-${hashOf(other).slice(0, 12)}.bin`
  t.match((await print(id, other)).output, { $file: named, size: 24, sha256: hashOf(other) })
  t.match((await print(id, other)).output, { $file: named }, 'the same content has the same name')
  t.same([readFileSync(placeOf(id, 'stdout.bin')), readFileSync(placeOf(id, named))], [png, other])
  for (const taken of ['ln -s /etc/passwd stdout.bin', 'mkdir stdout.bin']) {
    await call(id, 'shell', { script: `rm -r stdout.bin; ${taken}` })
    t.match((await print(id, png)).output, { $file: `stdout-${hashOf(png).slice(0, 12)}.bin` }, taken)
  }
})

t.test('calls that store files at the same time each get their own', async t => {
  const id = await client.session()
  const kinds = Array.from({ length: 8 }, (_, index) => `bytes ${index}`)
  const calls = kinds.map(text => ({ call_id: text, name: 'draw', arguments: { text } }))
  const { results } = await client.batch(calls, { wait_ms: 60_000, session: id })
  t.same(results.map(({ output }) => (output as { sha256: string }).sha256), kinds.map(text => hashOf(drawing(text))))
  for (const { call_id: text, output } of results) t.same(readFileSync(placeOf(id, (output as { $file: string }).$file)), drawing(text))
})

t.test('an answer of an HTTP API that is no text is a file of the session', async t => {
  const id = await client.session()
  t.same((await call(id, 'image')).output, { $file: 'output.bin', size: 12, type: 'image/png', sha256: hashOf(png) })
  t.same(readFileSync(placeOf(id, 'output.bin')), png)
  t.match(await call(undefined, 'image'), { error: { code: 'OUTPUT_INVALID', message: /neither JSON nor text; in a session it would be the file output.bin/ } })
  t.match(await call(id, 'large_image'), { error: { code: 'OUTPUT_INVALID', message: /longer than the 5000 bytes that are kept: raise MAX_OUTPUT_BYTES, or limits.outputBytes of the entry/ } })
  t.match(await call(id, 'echo'), { error: { code: 'OUTPUT_INVALID', message: /holds a secret of the call/ } })
  t.same(readdirSync(placeOf(id, '.')), ['output.bin'], 'nothing of an answer that was refused')
})

t.test('Python tools return paths and bytes as files', { skip: !hasPython }, async t => {
  const id = await client.session()
  const chart = { $file: 'chart.png', size: 12, type: 'image/png', sha256: hashOf(png) }
  t.same((await call(id, 'py_return', { kind: 'path' })).output, { chart, rows: 3 })
  t.same((await call(id, 'py_return', { kind: 'bytes' })).output, [
    { $file: 'output.bin', size: 8, type: 'application/pdf', sha256: hashOf('%PDF-1.7') },
    { $file: `output-${hashOf(Buffer.from('fffe', 'hex')).slice(0, 12)}.bin`, size: 2, type: 'application/octet-stream', sha256: hashOf(Buffer.from('fffe', 'hex')) }
  ])
  t.match((await call(id, 'py_return', { kind: 'large' })), { ok: true, output: { truncated: true, preview: /^\{"files":\[\{"\$file":"a","size":1,/ } })
  t.match(await call(id, 'py_return', { kind: 'missing' }), { ok: false, error: { code: 'OUTPUT_INVALID', message: /"missing": it is not there/ } })
  t.match(await call(undefined, 'py_return', { kind: 'of-workspace' }), { ok: true, output: 'of-workspace' }, 'without a session a path is a text')
  t.match(await call(undefined, 'py_return', { kind: 'bytes' }), { ok: true, output: [{ $bytes: btoa('%PDF-1.7') }, { $bytes: btoa('\xff\xfe') }] })
  t.notOk(existsSync(join(service.dir, 'workspace/output.bin')))
})

t.test('a returned file that is swapped with a link is never read through the link', async t => {
  const id = await client.session()
  const secret = hashOf(readFileSync('/etc/passwd'))
  const swap = 'i=0; while [ $i -lt 400 ]; do ln -sf /etc/passwd swapped; rm -f swapped; echo x > swapped; i=$((i+1)); done'
  await call(id, 'shell', { script: 'true' })
  const swapping = call(id, 'shell', { script: swap })
  writeFileSync(placeOf(id, 'output'), JSON.stringify({ $file: 'swapped' }))
  const results = await Promise.all(Array.from({ length: 12 }, async () => await call(id, 'print')))
  t.notMatch(JSON.stringify([...results, await swapping]), new RegExp(secret))
  for (const { ok, error } of results) t.ok(ok || error?.code === 'OUTPUT_INVALID', error?.message ?? 'it is returned')
})

t.test('what stands beside a returned file is kept as it was written', async t => {
  const session = await client.session()
  await call(session, 'shell', { script: 'echo x > a' })
  writeFileSync(placeOf(session, 'output'), '{"10":1.0,"2":[{"$file":"a"},725653563933458432],"id":725653563933458432}')
  const body = { calls: [{ call_id: 'c', name: 'print', arguments: {} }], wait_ms: 60_000, session }
  const { text } = await client.request('/v1/agent-tools/invoke-batch', { body })
  t.match(text, /"output":\{"10":1\.0,"2":\[\{"\$file":"a"[^}]*\},725653563933458432\],"id":725653563933458432\}/)
})
