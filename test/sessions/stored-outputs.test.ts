import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { CallResult } from '@toolyard/contract'
import { startWebServer } from '../builtin/web-server.ts'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService, testKeys } from '../support/service.ts'

/* What the service itself writes into a session: outputs that are stored as files, and templates. */

t.setTimeout(180_000)

const secret = 'secret-of-outputs-7f3a'
const python = `import os
from toolyard import Tool

class Return(Tool):
    def execute(self, kind):
        return os.urandom(60000) if kind == "random" else b"\\x00" + os.environ["TOKEN"].encode() + b"\\x00"
`
const api = await startWebServer(t, (_request, response) => {
  response.writeHead(200, { 'content-type': 'image/png' }).end(randomBytes(60_000))
})
const schema = { type: 'object' }
const service = await createService(t, {
  files: {
    'tools/bin/random': '#!/bin/sh\nprintf "\\000"\nhead -c 60000 /dev/urandom\n',
    'tools/bin/say': '#!/bin/sh\nprintf "\\377\\000\\377%s\\000" "$TOKEN"\n',
    'tools/bin/name': '#!/bin/sh\necho x > "$TOKEN.txt"\necho x > other.txt\necho named\n',
    'templates/large/sub/file': 'x'.repeat(60_000),
    'bundle/return.py': python,
    'bundle/manifest.json': bundleOf({
      name: 'py_return', description: 'x', module: 'return', inputs: { kind: { type: 'string' } }, permissions: [], secrets: { TOKEN: { secret: 'token', as: 'env' } }
    })
  },
  tools: [
    { name: 'random', schema, command: ['./tools/bin/random'], permissions: [] },
    { name: 'say', schema, command: ['./tools/bin/say'], permissions: [], secrets: { TOKEN: { secret: 'token', as: 'env' } } },
    { name: 'name', schema, command: ['./tools/bin/name'], permissions: ['write_files'], secrets: { TOKEN: { secret: 'token', as: 'env' } } },
    { name: 'fetch', http: { method: 'GET', url: `http://127.0.0.1:${api.port}/` } }
  ],
  manifests: ['tools.json', 'bundle/manifest.json'],
  env: { HTTP_PRIVATE_HOSTS: '127.0.0.1', SECRETS_KEY: '7a'.repeat(32), SESSION_TEMPLATES_DIR: 'templates' }
})
const { client } = service
const call = async (session: string, name: string, args: object = {}): Promise<CallResult> => await client.call(name, args, { session })
const dirOf = (session: string): string => join(service.dir, 'sessions', session)
await client.request('/v1/secrets/token', { method: 'PUT', body: { value: secret } })

for (const [name, args] of [['random', {}], ['fetch', {}], ['py_return', { kind: 'random' }]] as const) {
  t.test(`what ${name} gives is stored within the quota of the session, though the tool may not write`, { skip: name === 'py_return' && !hasPython }, async t => {
    const session = await client.session(testKeys.admin, { quota_bytes: 200_000 })
    const results: CallResult[] = []
    for (let index = 0; index < 5; index++) results.push(await call(session, name, args))
    t.same(results.map(({ ok }) => ok), [true, true, true, false, false])
    t.match(results.slice(3), [{ error: { code: 'QUOTA_EXCEEDED' } }, { error: { code: 'QUOTA_EXCEEDED' } }])
    t.equal(readdirSync(dirOf(session)).length, 3, 'nothing is left of those')
  })
}

for (const [name, args] of [['say', {}], ['py_return', { kind: 'secret' }]] as const) {
  t.test(`no file has the secret that ${name} gives among bytes that are no text`, { skip: name === 'py_return' && !hasPython }, async t => {
    const session = await client.session(testKeys.admin)
    t.match(await call(session, name, args), { ok: false, error: { code: 'OUTPUT_INVALID', message: /it holds a secret of the call/ } })
    t.same(readdirSync(dirOf(session)).filter(file => readFileSync(join(dirOf(session), file)).includes(secret)), [])
  })
}

t.test('a file whose name holds a secret of the call is not named', async t => {
  const session = await client.session(testKeys.admin)
  const result = await call(session, 'name')
  t.match(result, { ok: true, output: 'named', files: [{ path: 'other.txt' }], more_files: true })
  t.same(result.files?.length, 1)
  t.notMatch((await client.request(`/v1/jobs/${String(result.job_id)}`)).text, secret)
})

t.test('a session does not begin as a template that is larger than its quota', async t => {
  const begun = await client.session(testKeys.admin, { from: 'large' })
  t.match(await call(begun, 'data_file_read', { path: 'sub/file' }), { ok: true })
  const small = await client.session(testKeys.admin, { from: 'large', quota_bytes: 10_000 })
  t.match(await call(small, 'data_file_read', { path: 'sub/file' }), { error: { code: 'QUOTA_EXCEEDED', message: /template 'large'.*quota of 10000 bytes/ } })
  t.match(await client.request(`/v1/sessions/${small}/files/a`, { method: 'PUT', body: 'a' }), { status: 413, body: { error: { code: 'QUOTA_EXCEEDED' } } })
  t.notOk(readdirSync(join(service.dir, 'sessions')).includes(small))
})
