import { exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { injectService, openTestApi } from '../support/injected.ts'
import { startIssuer } from '../support/issuer.ts'
import { initialize, post } from './clients.ts'

const issuer = await startIssuer(t)
const service = await injectService(t, { workers: 0 })
const app = await openTestApi(t, { ...service.env, MCP_AUTH_ISSUER: issuer.url, MCP_AUTH_TENANT_CLAIM: 'org', SSE_HEARTBEAT_SEC: '1' })
const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }

/** The headers of a client of 2025 with a token of `alice`. */
async function headersOf (org: string, exp?: number): Promise<Record<string, string>> {
  const token = await issuer.token(url, { claims: { org, ...exp === undefined ? {} : { exp } } })
  return { authorization: `Bearer ${token}`, 'mcp-protocol-version': '2025-11-25' }
}

t.test('a session of a token is none for another tenant whose token has the same subject', async t => {
  const [own, foreign, renewed] = await Promise.all([headersOf('acme'), headersOf('other'), headersOf('acme', Math.floor(Date.now() / 1_000) + 200)])
  const session = { 'mcp-session-id': (await post(url, initialize, own)).headers.get('mcp-session-id') ?? '' }
  t.equal((await post(url, list, { ...foreign, ...session })).status, 404)
  t.equal((await fetch(url, { method: 'DELETE', headers: { ...foreign, ...session } })).status, 404)
  t.equal((await post(url, list, { ...renewed, ...session })).status, 200, 'and is that of the next token of its own')
})

t.test('a stream of a token ends with it, and another one of the same subject stays', async t => {
  // An issuer's clock may be 30 s behind.
  const [short, long] = await Promise.all([headersOf('acme', Math.floor(Date.now() / 1_000) - 26), headersOf('acme')])
  const open = async (headers: Record<string, string>): Promise<Response> => await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } })
  const [ending, staying] = await Promise.all([open(short), open(long)])
  t.equal(ending.status, 200)
  t.match(await ending.text(), /opens nothing any more/)
  const reader = staying.body?.getReader()
  for (const beat of [1, 2, 3]) t.notOk((await reader?.read())?.done, `heartbeat ${beat}`)
  await reader?.cancel()
})

t.test('an issuer that changes its keys is asked for them, and old ones end, also after the clock of the API was set back', async t => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...await exportJWK(publicKey), kid: 'key-2', alg: 'ES256' }
  const statusOf = async (options: Parameters<typeof issuer.token>[1]): Promise<number> => {
    const token = await issuer.token(url, { claims: { org: 'acme' }, ...options })
    return (await post(url, initialize, { authorization: `Bearer ${token}` })).status
  }
  const fresh = { key: privateKey, header: { kid: 'key-2' } }
  t.equal(await statusOf({}), 200)
  issuer.answers.set('/keys', response => { response.end(JSON.stringify({ keys: [jwk] })) })
  const [date, steady] = [Date.now.bind(Date), performance.now.bind(performance)]
  t.teardown(() => {
    issuer.answers.clear()
    Object.assign(Date, { now: date })
    Object.assign(performance, { now: steady })
  })
  Object.assign(Date, { now: () => date() - 3_600_000 })
  const claims = { org: 'acme', exp: Math.floor(date() / 1_000) + 300 }
  t.equal(await statusOf({ ...fresh, claims }), 401, 'it was asked just now')
  Object.assign(performance, { now: () => steady() + 31_000 })
  t.equal(await statusOf({ ...fresh, claims }), 200)
  t.equal(await statusOf({ claims }), 401)
})
