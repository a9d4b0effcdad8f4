import { openApi } from '@toolyard/api'
import { ClientCredentialsProvider, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createLogger, readSettings } from '@toolyard/runtime'
import { generateKeyPair } from 'jose'
import t from 'tap'
import { injectService, openTestApi } from '../support/injected.ts'
import { startIssuer, type TokenOptions } from '../support/issuer.ts'
import { testKeys } from '../support/service.ts'
import { waitFor } from '../support/condition.ts'
import { entries, programs } from '../e2e/tools.ts'
import { eras, meta, rpc, type RpcAnswer } from './clients.ts'

/*
 * Each address is an API of its own in this process, so that what one of them remembers of the issuer is nothing to the
 * others. All of them have the one Redis, and its worker.
 */

const issuer = await startIssuer(t)
const service = await injectService(t, { files: programs, tools: entries, workers: 1 })

/** Starts an API that takes the issuer's tokens; says where it is. */
async function start (extra: Record<string, string> = {}): Promise<string> {
  const app = await openTestApi(t, { ...service.env, MCP_AUTH_ISSUER: issuer.url, ...extra })
  return await app.listen({ host: '127.0.0.1', port: 0 })
}

async function list (address: string, token: string | undefined): Promise<RpcAnswer> {
  return await rpc(address, 'tools/list', {}, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })
}

const address = await start()
const resource = `${address}/mcp`
const metadata = `${address}/.well-known/oauth-protected-resource/mcp`

t.test('a client without a token is led to the issuer', async t => {
  const answer = await list(address, undefined)
  t.equal(answer.status, 401)
  t.equal(answer.headers.get('www-authenticate'), `Bearer scope="toolyard:read toolyard:admin", resource_metadata="${metadata}"`)
  const expected = {
    resource, authorization_servers: [issuer.url], scopes_supported: ['toolyard:read', 'toolyard:admin'], bearer_methods_supported: ['header']
  }
  for (const url of [metadata, `${address}/.well-known/oauth-protected-resource`]) t.match(await (await fetch(url)).json(), expected)
  t.equal((await fetch(`${address}/.well-known/oauth-protected-resource/other`)).status, 404)
})

t.test('an MCP client of each era finds the issuer by itself, gets a token and calls a tool', async t => {
  for (const era of eras) {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' } })
    const authProvider = new ClientCredentialsProvider({ clientId: 'program', clientSecret: 'hidden', expectedIssuer: issuer.url })
    await client.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider }))
    t.teardown(() => client.close())
    const answer = await client.callTool({ name: 'echo', arguments: { a: 1 } })
    t.same(answer.structuredContent, { a: 1 }, era)
  }
})

t.test('limits count by the subject of tokens, whose name no key can have', async t => {
  const own = await start({ RATE_LIMIT_PER_MINUTE: '2' })
  const ask = async (sub: string): Promise<number> => (await list(own, await issuer.token(`${own}/mcp`, { claims: { sub } }))).status
  t.same([await ask('admin'), await ask('admin'), await ask('admin')], [200, 200, 429])
  t.equal(await ask('bob'), 200)
  t.equal((await rpc(own, 'tools/list', {}, { key: testKeys.admin })).status, 200, 'the key named admin')
})

t.test('a claim may name the tenant: jobs of another one do not exist, and a token without it is refused', async t => {
  const own = await start({ MCP_AUTH_TENANT_CLAIM: 'org' })
  const authorization = async (org: unknown): Promise<string> => `Bearer ${await issuer.token(`${own}/mcp`, { claims: { org } })}`
  const called = await rpc(own, 'tools/call', { name: 'echo', arguments: {} }, { headers: { authorization: await authorization('acme') } })
  const { 'toolyard/job_id': taskId } = called.body.result?.['_meta'] as Record<string, string>
  const about = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  const task = async (org: string): Promise<RpcAnswer> => (
    await rpc(own, 'tasks/get', { taskId }, { headers: { authorization: await authorization(org) }, meta: about })
  )
  t.match((await task('acme')).body.result, { status: 'completed' })
  t.match((await task('other')).body.error, { code: -32_602 })
  for (const org of [undefined, '', 'Not A Name', 7, ['acme']]) {
    t.equal((await rpc(own, 'tools/list', {}, { headers: { authorization: await authorization(org) } })).status, 401)
  }
})

t.test('keys are accepted as before; a token is accepted only at /mcp, and never as x-api-key', async t => {
  const token = await issuer.token(resource)
  t.equal((await rpc(address, 'tools/list', {}, { key: testKeys.read })).status, 200)
  t.equal((await rpc(address, 'tools/list', {}, { key: token })).status, 401)
  t.equal((await fetch(`${address}/v1/agent-tools`, { headers: { authorization: `Bearer ${token}` } })).status, 401)
})

t.test('the scopes of a token are its role', async t => {
  const read = await issuer.token(resource, { claims: { scope: 'other toolyard:read' } })
  t.equal((await list(address, read)).status, 200)
  const call = await rpc(address, 'tools/call', { name: 'echo', arguments: {} }, { headers: { authorization: `Bearer ${read}` } })
  t.equal(call.status, 403)
  t.match(call.headers.get('www-authenticate'), 'error="insufficient_scope"')
  t.match(call.headers.get('www-authenticate'), 'scope="toolyard:admin"')
  const none = await list(address, await issuer.token(resource, { claims: { scope: 'toolyard:readers' } }))
  t.equal(none.status, 403)
  t.match(none.headers.get('www-authenticate'), 'scope="toolyard:read"')
  const listed = await issuer.token(resource, { claims: { scope: undefined, scp: ['toolyard:read'] } })
  t.equal((await list(address, listed)).status, 200)
})

t.test('a token that says that it is of another kind is refused, whoever signed it', async t => {
  for (const typ of ['id_token', 'logout+jwt', 'application/logout+jwt', 'dpop+jwt', 'secevent+jwt', 'at+jwt2', 'application/', '', 7, null]) {
    const answer = await list(address, await issuer.token(resource, { header: { typ } }))
    t.equal(answer.status, 401, String(typ))
    t.match(answer.headers.get('www-authenticate'), /^Bearer error="invalid_token", error_description="[^"]*typ[^"]*at\+jwt[^"]*", /, String(typ))
  }
  for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', 'jwt', undefined]) {
    t.equal((await list(address, await issuer.token(resource, { header: { typ } }))).status, 200, String(typ))
  }
})

t.test('an invalid token is refused', async t => {
  const now = Math.floor(Date.now() / 1_000)
  const stranger = await generateKeyPair('ES256')
  const publicText = new TextEncoder().encode(JSON.stringify(issuer.publicKey))
  const faults: Record<string, TokenOptions> = {
    'another audience': { claims: { aud: 'https://elsewhere.example/mcp' } },
    'no audience': { claims: { aud: undefined } },
    'another issuer': { claims: { iss: 'https://elsewhere.example' } },
    'its time is over': { claims: { exp: now - 300 } },
    'it never ends': { claims: { exp: undefined } },
    'its time has not come': { claims: { nbf: now + 300 } },
    'nobody\'s': { claims: { sub: undefined } },
    'a name with a line break': { claims: { sub: 'a\nb' } },
    'a list as the name': { claims: { sub: ['alice'] } },
    'a number as the name': { claims: { sub: 5 } },
    'a name of 300 letters': { claims: { sub: 'a'.repeat(300) } },
    'signed with a key of somebody else': { key: stranger.privateKey },
    'signed with the public key as a secret': { header: { alg: 'HS256' }, key: publicText },
    'an unknown key': { header: { kid: 'key-2' } },
    'a header that must be understood': { header: { crit: ['new'], new: 1 } }
  }
  for (const [what, options] of Object.entries(faults)) {
    const signed = await issuer.token(resource, options).catch(() => undefined)
    const token = signed ?? await withHeader({ crit: ['new'], new: 1 })
    const answer = await list(address, token)
    t.equal(answer.status, 401, what)
    t.match(answer.headers.get('www-authenticate'), /^Bearer error="invalid_token", error_description="[^"]+", /, what)
    t.match(answer.headers.get('www-authenticate'), `resource_metadata="${metadata}"`)
  }
  // Their names come back in the reason, which is a header: as they are, they would end it.
  for (const name of ['a\r\nset-cookie: a=b', '\u0000', 'é', '中', '"\\']) {
    const answer = await list(address, await withHeader({ crit: [name], [name]: 1 }))
    t.equal(answer.status, 401, name)
    t.match(answer.headers.get('www-authenticate'), /^Bearer error="invalid_token", error_description="[^"]+", scope=/, name)
    t.equal(answer.headers.get('set-cookie'), null)
  }
  for (const token of [await withHeader({ alg: 'none' }), (await issuer.token(resource)).replace(/[^.]+$/, ''), 'a.b.c', 'x', '..']) {
    t.equal((await list(address, token)).status, 401, token.slice(0, 20))
  }
})

/** A good token with another header, whose signature is that of the first one. */
async function withHeader (header: object): Promise<string> {
  const [, ...rest] = (await issuer.token(resource)).split('.')
  return [Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'key-1', ...header })).toString('base64url'), ...rest].join('.')
}

t.test('a flood of tokens with unknown keys causes no more requests to the issuer', async t => {
  const own = await start()
  t.equal((await list(own, await issuer.token(`${own}/mcp`))).status, 200)
  issuer.asked.length = 0
  const tokens = await Promise.all(Array.from({ length: 100 }, (_, index) => issuer.token(`${own}/mcp`, { header: { kid: `key-${index + 2}` } })))
  for (const { status } of await Promise.all(tokens.map(token => list(own, token)))) t.equal(status, 401)
  t.ok(issuer.asked.length <= 1, `the issuer was asked ${issuer.asked.length} times`)
})

t.test('while the issuer fails the answer is a 503; its keys are used again when it works', async t => {
  const own = await start()
  const token = await issuer.token(`${own}/mcp`)
  issuer.answers.set('/keys', response => { response.writeHead(500).end() })
  const refused = await list(own, token)
  t.match(refused, { status: 503, body: { error: { data: { code: 'UNAVAILABLE' } } } })
  t.ok(refused.headers.get('retry-after'))
  issuer.asked.length = 0
  await Promise.all(Array.from({ length: 50 }, () => list(own, token)))
  t.ok(issuer.asked.length <= 10, `while it rests, the issuer is asked no more: ${issuer.asked.length}`)
  issuer.answers.clear()
  await waitFor('the token counts again', async () => (await list(own, token)).status === 200, 120_000)
})

t.test('answers of an issuer that aren\'t keys let no token in', async t => {
  const where = '/.well-known/oauth-authorization-server'
  const json = (body: unknown): ((response: { end: (text: string) => void }) => void) => response => { response.end(JSON.stringify(body)) }
  const faults: Array<[what: string, path: string, answer: Parameters<typeof issuer.answers.set>[1]]> = [
    ['keys by a redirect', '/keys', response => { response.writeHead(302, { location: `${issuer.url}/other` }).end() }],
    ['keys without end', '/keys', response => { response.end(`{"keys": [], "x": "${'x'.repeat(400_000)}"}`) }],
    ['no JSON', '/keys', response => { response.end('<html>') }],
    ['no set', '/keys', json([])],
    ['a key of no curve', '/keys', json({ keys: [{ kid: 'key-1', alg: 'ES256', kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }] })],
    ['metadata of another issuer', where, json({ issuer: 'https://elsewhere.example', jwks_uri: `${issuer.url}/keys` })],
    ['keys elsewhere by http', where, json({ issuer: issuer.url, jwks_uri: 'http://127.0.0.1:1/keys' })],
    ['keys in a file', where, json({ issuer: issuer.url, jwks_uri: 'file:///etc/passwd' })],
    ['null', where, json(null)]
  ]
  for (const [what, path, answer] of faults) {
    issuer.answers.set(path, answer)
    const own = await start()
    t.equal((await list(own, await issuer.token(`${own}/mcp`))).status, 503, what)
    issuer.answers.clear()
  }
  issuer.answers.set('/keys', json({ keys: [] }))
  const own = await start()
  t.equal((await list(own, await issuer.token(`${own}/mcp`))).status, 401, 'a set without keys')
  issuer.answers.clear()
})

t.test('resource, audience and scopes may be named', async t => {
  const own = await start({
    MCP_AUTH_RESOURCE: 'https://tools.example/toolyard/mcp',
    BASE_PATH: '/toolyard',
    MCP_AUTH_AUDIENCE: 'api://toolyard',
    MCP_AUTH_SCOPES: 'read=Tools.Read,admin=Tools.Call'
  })
  const address = 'https://tools.example/.well-known/oauth-protected-resource/toolyard/mcp'
  t.match((await list(own, undefined)).headers.get('www-authenticate'), `scope="Tools.Read Tools.Call", resource_metadata="${address}"`)
  t.match(await (await fetch(`${own}${new URL(address).pathname}`)).json(), { resource: 'https://tools.example/toolyard/mcp' })
  t.equal((await list(own, await issuer.token('https://tools.example/toolyard/mcp'))).status, 401)
  t.equal((await list(own, await issuer.token('api://toolyard'))).status, 403)
  t.equal((await list(own, await issuer.token('api://toolyard', { claims: { scope: 'Tools.Read' } }))).status, 200)
})

t.test('without an issuer, the answer says that API keys are needed', async t => {
  const answer = await service.app.inject('/.well-known/oauth-protected-resource/mcp')
  t.equal(answer.statusCode, 404)
  t.match(answer.json(), { error: { message: /send an API key/ } })
  t.equal((await service.app.inject({ url: '/mcp', method: 'POST', payload: {} })).headers['www-authenticate'], 'Bearer')
})

t.test('settings that are unsafe, or that nobody could use, stop the start', async t => {
  const open = async (extra: Record<string, string>): Promise<unknown> => {
    const env = { ...service.env, MCP_AUTH_ISSUER: issuer.url, ...extra }
    return await openApi(readSettings(env), env, createLogger('api', 'silent'))
  }
  for (const [name, value] of [
    ['MCP_AUTH_ISSUER', 'http://issuer.example'], ['MCP_AUTH_ISSUER', 'https://user:secret@issuer.example'], ['MCP_AUTH_RESOURCE', '/mcp'],
    ['MCP_AUTH_SCOPES', 'read=a'], ['MCP_AUTH_SCOPES', 'read=a,admin=a'], ['MCP_AUTH_SCOPES', 'read=a,admin=b,call=c']
  ]) await t.rejects(open({ [name ?? '']: value ?? '' }), new RegExp(`${name} must be`))
  await t.rejects(open({ API_KEYS_JSON: '', API_AUTH_DISABLED: '1' }), /MCP_AUTH_ISSUER works only without API_AUTH_DISABLED/)
  await t.rejects(open({ HOST: '0.0.0.0' }), /MCP_AUTH_RESOURCE must be set/)
})
