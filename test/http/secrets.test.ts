import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { answeredBefore } from '../support/answered-before.ts'
import { connectTo } from '../support/connection.ts'
import { injectService } from '../support/injected.ts'
import { listening } from '../support/listening.ts'
import { hasPython } from '../support/python.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  admin: { name: 'operator' },
  acme: { name: 'acme-1', tenant: 'acme' },
  other: { name: 'other-1', tenant: 'other' },
  bound: { queue_allowlist: ['desk'] },
  many: { name: 'many-1', tenant: 'many' },
  boundAcme: { name: 'bound-acme', tenant: 'acme', namespaces: ['desk'] },
  read: {}
})
const values = { acme: 'token-of-acme-8f3a91', other: 'token-of-other-77bc02', operator: 'token-of-operator-1d' }
const seen: string[] = []
const api = createServer((request, response) => {
  seen.push(String(request.headers.authorization))
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ you: request.headers.authorization }))
})
const port = await listening(t, api)
const service = await injectService(t, {
  manifests: hasPython() ? ['tools.json', 'bundle/manifest.json'] : ['tools.json'],
  files: {
    'bundle/mods/tell.py': 'import os\nfrom toolyard import Tool\n\nclass Tell(Tool):\n    def execute(self):\n        print(os.environ["GITHUB_TOKEN"])\n        return {"length": len(os.environ["GITHUB_TOKEN"]), "token": os.environ["GITHUB_TOKEN"]}\n',
    'bundle/manifest.json': JSON.stringify({ schema_version: '1.0', metadata: { name: 'test', description: 'For tests.' }, tools: [{ name: 'tell_python', description: 'Tells its secret.', module: 'mods.tell', secrets: { GITHUB_TOKEN: { secret: 'github', as: 'env' } } }] }),
    'tools/bin/tell_much': '#!/bin/sh\nprintf \'{"token": "\\\\u0074%s", "%s": 725653563933458432, "pad": "\' "$(printf %s "$GITHUB_TOKEN" | cut -c 2-)" "$GITHUB_TOKEN"\nhead -c 100000 /dev/zero | tr "\\0" x\necho \'"}\'\n',
    'tools/bin/tell_cut': '#!/bin/sh\nread -r _\n[ "$1" = out ] && { head -c "$2" /dev/zero | tr "\\0" x; printf %s "$GITHUB_TOKEN"; head -c 2000 /dev/zero | tr "\\0" y; exit; }\n{ head -c "$2" /dev/zero | tr "\\0" x; printf "%s" "$GITHUB_TOKEN"; head -c "$3" /dev/zero | tr "\\0" y; } >&2\nexit 1\n',
    'tools/bin/tell': '#!/bin/sh\nread -r _\necho "to stderr $GITHUB_TOKEN" >&2\nprintf %s "$GITHUB_TOKEN" | wc -c >&2\necho "{\\"token\\": \\"$GITHUB_TOKEN\\"}"\n'
  },
  tools: [
    { name: 'who', http: { method: 'GET', url: `http://127.0.0.1:${port}/user`, headers: { Authorization: { secret: 'github', prefix: 'Bearer ' } } } },
    { name: 'tell_much', command: ['./tools/bin/tell_much'], permissions: [], secrets: { GITHUB_TOKEN: { secret: 'github', as: 'env' } } },
    { name: 'tell_line', command: ['./tools/bin/tell_cut', 'line', '4080', '10'], permissions: [], secrets: { GITHUB_TOKEN: { secret: 'github', as: 'env' } } },
    { name: 'tell_end', command: ['./tools/bin/tell_cut', 'end', '10', '1990'], permissions: [], secrets: { GITHUB_TOKEN: { secret: 'github', as: 'env' } } },
    { name: 'tell_out', command: ['./tools/bin/tell_cut', 'out', '4080'], permissions: [], limits: { outputBytes: 4096 }, secrets: { GITHUB_TOKEN: { secret: 'github', as: 'env' } } },
    { name: 'tell', command: ['./tools/bin/tell'], permissions: [], secrets: { GITHUB_TOKEN: { secret: 'github', as: 'env' } } }
  ],
  env: {
    HTTP_PRIVATE_HOSTS: '127.0.0.1',
    SECRETS_KEY: 'ab'.repeat(32),
    API_KEYS_JSON
  }
})
const { client, dir, redis } = service

async function call (name: string, key: string): Promise<unknown> {
  const { results } = await client.batch([{ call_id: '1', name }], { wait_ms: 20_000 }, key)
  return results[0]
}

t.test('without a secret the call says which, and how it is stored', async t => {
  for (const name of ['who', 'tell']) {
    t.match(await call(name, keys.acme), { ok: false, error: { code: 'SECRET_MISSING', message: /the secret github for this call: toolyard secrets set github/ } })
  }
  t.same(seen, [])
})

t.test('two tenants call the same tools with their own tokens, which nobody else sees and no answer shows', async t => {
  await client.request('/v1/secrets/github', { method: 'PUT', body: { value: values.operator } })
  for (const who of ['acme', 'other'] as const) {
    t.match(await client.request('/v1/secrets/github', { method: 'PUT', key: keys[who], body: { value: values[who] } }), { status: 200, body: { ok: true, name: 'github' } })
  }
  t.match(await call('who', keys.acme), { ok: true, output: { you: '***REDACTED***' } })
  await call('who', keys.other)
  await call('who', testKeys.admin)
  t.same(seen, [`Bearer ${values.acme}`, `Bearer ${values.other}`, `Bearer ${values.operator}`])
  t.match(await call('tell', keys.acme), { ok: true, output: { token: '***REDACTED***' } })
})

t.test('lists have names, and a tenant sees its own; who only looks, and whose tenant it isn\'t, may not store', async t => {
  const list = async (key: string): Promise<unknown[]> => ((await client.request<{ secrets: unknown[] }>('/v1/secrets', { key })).body.secrets)
  t.match(await list(keys.acme), [{ name: 'github', scope: 'tenant', tenant: 'acme', last_used_at: /T/ }])
  t.equal((await list(testKeys.admin)).length, 3)
  t.match(await client.request('/v1/secrets', { key: testKeys.read }), { status: 403 })
  t.match(await client.request('/v1/secrets/x', { method: 'PUT', key: keys.acme, body: { value: 'v', scope: 'operator' } }), { status: 403 })
  t.match(await client.request('/v1/secrets/x', { method: 'PUT', key: keys.acme, body: { value: 'v', tenant: 'other' } }), { status: 403 })
  for (const [body, message] of [
    [{ value: 'v', scop: 'tenant' }, "'scop' is not a known field (known: 'value', 'scope', 'tenant')"], [{ value: 123_456 }, "'value' must be a text of 1 to 65536 characters"],
    [{}, "'value' must be a text of 1 to 65536 characters"], [{ value: 'v', scope: 'all' }, "'scope' must be operator, tenant or key"], [{ value: 'v', tenant: null }, /^'tenant' must match /]
  ] as const) t.match(await client.request('/v1/secrets/x', { method: 'PUT', body }), { status: 400, body: { error: { message } } })
  t.match(await client.request('/v1/secrets/a%20b', { method: 'PUT', body: { value: 'v' } }), { status: 400 })
  t.match(await client.request('/v1/secrets/rotate', { method: 'POST', key: keys.acme }), { status: 403 })
  t.match(await client.request('/v1/secrets/rotate', { method: 'POST' }), { status: 200, body: { ok: true, sealed: 0, lost: 0 } })
})

t.test('a key that is bound in some way changes no secret that calls of other keys use', async t => {
  for (const key of [keys.bound, keys.boundAcme]) {
    t.match(await client.request('/v1/secrets/github', { method: 'PUT', key, body: { value: 'theirs' } }), { status: 403 })
    t.match(await client.request('/v1/secrets/github', { method: 'DELETE', key }), { status: 403 })
    t.match(await client.request('/v1/secrets/own', { method: 'PUT', key, body: { value: 'theirs', scope: 'key' } }), { status: 200 })
    t.match(await client.request('/v1/secrets/own?scope=key', { method: 'DELETE', key }), { status: 200 })
    t.match(await client.request('/v1/secrets/rotate', { method: 'POST', key }), { status: 403 })
  }
  t.match(await client.request('/v1/secrets/github', { method: 'PUT', key: keys.bound, body: { value: 'theirs', tenant: 'acme' } }), { status: 403 })
  t.match(await client.request('/v1/secrets/rotate', { method: 'POST', key: keys.bound }), { status: 403 })
})

t.test('a key that is bound in some way lists the secrets that its own calls use, and no other tenant\'s', async t => {
  const list = async (key: string): Promise<unknown[]> => ((await client.request<{ secrets: unknown[] }>('/v1/secrets', { key })).body.secrets)
  t.match(await list(keys.bound), [{ name: 'github', scope: 'operator' }])
  t.equal((await list(keys.bound)).length, 1)
  t.match(await list(keys.boundAcme), [{ name: 'github', scope: 'tenant', tenant: 'acme' }])
})

t.test('a Python tool gets the secret of its caller, for that call alone', { skip: !hasPython() && 'there is no Python' }, async t => {
  for (const who of ['acme', 'other'] as const) {
    t.match(await call('tell_python', keys[who]), { ok: true, output: { length: values[who].length, token: '***REDACTED***' } })
  }
})

t.test('a large output hides a secret too, also in names and written with escapes, and keeps its digits', async t => {
  const { text } = await client.request('/v1/tools/tell_much?wait_ms=20000', { key: keys.acme, body: {} })
  t.match(text, /^\{"token":"\*\*\*REDACTED\*\*\*","\*\*\*REDACTED\*\*\*":725653563933458432,"pad":"x{100000}"\}$/)
})

t.test('a secret of several lines is hidden line by line, without the white space around it, and so is what a cut has left of one', async t => {
  const lines = ['-----BEGIN TOKEN-----', 'QWERTYUIOPasdfghjklzxcv', 'bnm4567890QWERTYUIOPasd', '-----END TOKEN-----']
  const told = async (name: string): Promise<string> => {
    const { results: [result] } = await client.batch([{ call_id: '1', name }], { wait_ms: 20_000 }, keys.acme)
    const { text } = await client.request(`/v1/jobs/${result?.job_id}`, { key: keys.acme })
    return text + (await client.request(`/v1/jobs/${result?.job_id}/logs`, { key: keys.acme })).text
  }
  await client.request('/v1/secrets/github', { method: 'PUT', key: keys.acme, body: { value: `${lines.join('\n')}\n` } })
  const whole = await told('tell')
  for (const line of lines) t.notOk(whole.includes(line), line)
  await client.request('/v1/secrets/github', { method: 'PUT', key: keys.acme, body: { value: 'abcdefghij-0123456789-klmnopqrst' } })
  for (const name of ['tell_line', 'tell_end', 'tell_out']) {
    const text = await told(name)
    t.ok(text.includes('***REDACTED***'), name)
    t.notMatch(text, /abcdef|opqrst/, name)
  }
  await client.request('/v1/secrets/github', { method: 'PUT', key: keys.acme, body: { value: values.acme } })
})

t.test('no value is in Redis, nor in a file of the service', async t => {
  const connection = await connectTo(t, redis)
  const found: string[] = []
  const look = (place: string, bytes: Buffer | string): void => {
    if (Object.values(values).some(value => bytes.includes(value))) found.push(place)
  }
  const { length } = await connection.keys('*')
  for (const key of await connection.keys('*')) look(key, await connection.dumpBuffer(key) ?? '')
  const walk = async (at: string): Promise<void> => {
    for (const name of await readdir(at)) {
      const path = join(at, name)
      const info = await stat(path).catch(() => undefined)
      if (info?.isDirectory() === true) await walk(path)
      else if (info?.isFile() === true) look(path, await readFile(path))
    }
  }
  await walk(dir)
  t.ok(length > 3)
  t.same(found, [])
})

t.test('a removed secret is not used by the next call', async t => {
  t.match(await client.request('/v1/secrets/github', { method: 'DELETE', key: keys.acme }), { status: 200 })
  t.match(await client.request('/v1/secrets/github', { method: 'DELETE', key: keys.acme }), { status: 404 })
  seen.length = 0
  await call('who', keys.acme)
  t.same(seen, [`Bearer ${values.operator}`])
  await client.request('/v1/secrets/github', { method: 'DELETE' })
  t.match(await call('who', keys.acme), { ok: false, error: { code: 'SECRET_MISSING' } })
})

t.test('the secrets of a key go with it: a later key of the same name has none', async t => {
  const make = async (): Promise<string> => {
    const { body } = await client.request<{ key: { key: string } }>('/v1/keys', { body: { name: 'short-lived', role: 'admin', tenant: 'third' } })
    return body.key.key
  }
  const first = await make()
  t.equal((await client.request('/v1/secrets/github', { method: 'PUT', key: first, body: { value: 'token-of-the-first-key', scope: 'key' } })).status, 200)
  await client.request('/v1/secrets/github', { method: 'DELETE' })
  t.match(await call('tell', first), { ok: true })
  t.equal((await client.request('/v1/keys/short-lived', { method: 'DELETE' })).status, 200)
  t.match(await call('tell', await make()), { ok: false, error: { code: 'SECRET_MISSING' } })
})

t.test('a key that is made anew under the name of one whose time is over has none of its secrets', async t => {
  const make = async (): Promise<string> => {
    const { body } = await client.request<{ key: { key: string } }>('/v1/keys', { body: { name: 'timed', role: 'admin', tenant: 'third', expires_in_sec: 1_000 } })
    return body.key.key
  }
  const first = await make()
  t.equal((await client.request('/v1/secrets/github', { method: 'PUT', key: first, body: { value: 'token-of-the-first-key', scope: 'key' } })).status, 200)
  const commands = await connectTo(t, redis)
  t.equal(await commands.del(`toolyard:{keys}:${createHash('sha256').update(first).digest('hex')}`), 1, 'as its time does')
  const second = await make()
  t.match(await call('tell', second), { ok: false, error: { code: 'SECRET_MISSING' } })
  t.match(await client.request('/v1/secrets', { key: second }), { body: { count: 0 } })
})

t.test('who lists secrets waits for few lists of another tenant, however many that asks for', async t => {
  for (let stored = 0; stored < 100; stored += 20) {
    await Promise.all(Array.from({ length: 20 }, async (_, at) => await client.request(`/v1/secrets/many-${stored + at}`, { method: 'PUT', key: keys.many, body: { value: 'one-of-many' } })))
  }
  const count = async (key: string): Promise<number> => (await client.request<{ count: number }>('/v1/secrets', { key })).body.count
  const before = await answeredBefore(async () => { t.ok(await count(keys.many) >= 100) }, async () => await count(keys.other))
  t.ok(before < 15, `${before} of 30 were answered before`)
})
