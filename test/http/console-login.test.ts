import { consoleHeader, consoleHeaderFor } from '@toolyard/contract'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ read: {}, acme: { tenant: 'acme' } })
const { app, client } = await injectService(t, { workers: 0, env: { TRUST_PROXY: 'loopback', API_KEYS_JSON } })
const ofConsole = { [consoleHeader]: '1' }
const ofPage = { ...ofConsole, 'sec-fetch-site': 'same-origin' }
type Answer = Awaited<ReturnType<typeof app.inject>>

async function tryLogin (payload: unknown, headers: Record<string, string> = ofPage): Promise<Answer> {
  return await app.inject({ method: 'POST', url: '/v1/auth/login', headers: { 'content-type': 'application/json', ...headers }, payload: JSON.stringify(payload) })
}

/** Logs in; the cookie as a browser sends it back. */
async function logIn (key: string = testKeys.admin): Promise<string> {
  const answer = await tryLogin({ key })
  t.equal(answer.statusCode, 200)
  return String(answer.headers['set-cookie']).split(';', 1)[0] ?? ''
}

async function ask (cookie: string, { method = 'GET', url = '/v1/auth/whoami', headers = ofPage }: { method?: 'GET' | 'POST' | 'DELETE' | 'PATCH', url?: string, headers?: Record<string, string> } = {}): Promise<Answer> {
  return await app.inject({ method, url, headers: { cookie, ...headers } })
}

t.test('a person logs in with a key of any role and tenant, and may do what the key may do', async t => {
  const admin = await tryLogin({ key: testKeys.admin })
  t.match(admin.headers['set-cookie'], /^toolyard_login=[\w-]+\.[\w-]+; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/)
  t.match(admin.json(), { ok: true, name: 'admin' })
  const [reader, acme] = [await logIn(testKeys.read), await logIn(keys.acme)]
  t.match((await ask(reader)).json(), { auth: { name: 'reader', role: 'read', can_write: false } })
  t.equal((await ask(reader, { method: 'POST', url: '/v1/jobs/00000000-0000-4000-8000-000000000000/cancel' })).statusCode, 403)
  t.match((await ask(acme)).json(), { auth: { tenant: 'acme' } })
  t.equal((await ask(acme, { url: '/v1/keys' })).statusCode, 403)
})

t.test('one cookie serves the console and the dashboard; the dashboard is only for operators', async t => {
  t.equal((await ask(await logIn(), { url: '/dashboard/api/queues' })).statusCode, 200)
  t.equal((await ask(await logIn(testKeys.read), { url: '/dashboard/api/queues' })).statusCode, 403)
  t.equal((await ask(await logIn('test-acme-key-0123456789'), { url: '/dashboard/api/queues' })).statusCode, 403)
})

t.test('a cookie without the header of the console is ignored', async t => {
  const cookie = await logIn()
  t.equal((await ask(cookie)).statusCode, 200)
  for (const url of ['/v1/auth/whoami', '/v1/jobs', '/v1/keys', '/v1/agent-tools']) {
    t.equal((await ask(cookie, { url, headers: { 'sec-fetch-site': 'same-origin' } })).statusCode, 401, url)
  }
  t.equal((await ask(cookie, { method: 'DELETE', url: '/v1/keys/x', headers: { 'sec-fetch-site': 'same-origin' } })).statusCode, 401)
  for (const url of ['/metrics', '/mcp', '/openapi.json?tools=only']) t.equal((await ask(cookie, { url })).statusCode >= 400, true, `${url} takes keys alone`)
})

t.test('a page that is for one key is refused with the login of another key, which other tabs share with it', async t => {
  const cookie = await logIn(keys.acme)
  const cancel = async (name: string): Promise<Answer> => await ask(cookie, { method: 'POST', url: '/v1/jobs/00000000-0000-4000-8000-000000000000/cancel', headers: { ...ofPage, [consoleHeader]: consoleHeaderFor(name) } })
  t.match([(await cancel('admin')).statusCode, (await cancel('admin')).json()], [401, { error: { message: /another key/ } }])
  t.equal((await cancel('acme')).statusCode, 404, 'its own page asks')
  await client.request('/v1/keys', { body: { name: 'Zoë 🙂', role: 'admin' } }).then(async ({ body }) => {
    const zoe = await logIn((body as { key: { key: string } }).key.key)
    const headers = { ...ofPage, [consoleHeader]: consoleHeaderFor('Zoë 🙂') }
    t.equal((await ask(zoe, { headers })).statusCode, 200, 'whatever its name is')
    t.equal((await ask(cookie, { headers })).statusCode, 401)
  })
})

t.test('a request from another site is refused, also with a valid cookie and header', async t => {
  const cookie = await logIn()
  const foreign: Array<Record<string, string>> = [
    { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'none' }, { origin: 'https://evil.example' },
    { origin: 'null' }, { origin: 'http://localhost:81' }, {}, { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' }
  ]
  for (const from of foreign) {
    for (const [method, url] of [['POST', '/v1/auth/logout'], ['DELETE', '/v1/keys/x'], ['PATCH', '/v1/job-types/x']] as const) {
      t.equal((await ask(cookie, { method, url, headers: { ...ofConsole, ...from } })).statusCode, 403, `${method} ${url} ${JSON.stringify(from)}`)
    }
    t.equal((await tryLogin({ key: testKeys.admin }, { ...ofConsole, ...from })).statusCode, 403, `login ${JSON.stringify(from)}`)
  }
  t.equal((await ask(cookie, { headers: { ...ofConsole, 'sec-fetch-site': 'cross-site' } })).statusCode, 403, 'nor may it read')
  t.equal((await ask(cookie)).statusCode, 200, 'and nobody was logged out')
  t.equal((await ask(cookie, { method: 'DELETE', url: '/v1/keys/x', headers: { ...ofConsole, host: 'localhost:3001', origin: 'http://localhost:3001' } })).statusCode, 404, 'the own origin counts where there is no Sec-Fetch-Site')
})

t.test('a key in a header works as before, also beside a cookie', async t => {
  const cookie = await logIn()
  t.equal((await client.request('/v1/keys')).status, 200)
  const reader = await ask(cookie, { headers: { 'x-api-key': testKeys.read } })
  t.match(reader.json(), { auth: { name: 'reader' } })
  t.equal((await ask(cookie, { headers: { ...ofPage, 'x-api-key': 'nonsense' } })).statusCode, 401, 'a wrong key is wrong')
})

t.test('a login ends with its logout, its time and its key', async t => {
  const cookie = await logIn()
  const out = await ask(cookie, { method: 'POST', url: '/v1/auth/logout' })
  t.match([out.statusCode, out.headers['set-cookie']], [200, /^toolyard_login=; .*Max-Age=0/])
  t.equal((await ask(cookie)).statusCode, 401)

  const made = await client.request<{ key: { key: string } }>('/v1/keys', { body: { name: 'guest', role: 'admin' } })
  const guest = await logIn(made.body.key.key)
  t.equal((await ask(guest)).statusCode, 200)
  await client.request('/v1/keys/guest', { method: 'DELETE' })
  await waitFor('the key is revoked', async () => (await ask(guest)).statusCode === 401)

  const old = await logIn()
  // The API takes Redis' time from its own monotonic clock.
  const clock = performance.now.bind(performance)
  t.teardown(() => { performance.now = clock })
  performance.now = () => clock() + 28_800_001
  const late = (await ask(old)).statusCode
  performance.now = clock
  t.equal(late, 401)
})

t.test('a malformed login gets an error, and too many attempts are refused', async t => {
  for (const body of [{}, { key: 1 }, { key: 'x', other: 1 }, [], null]) t.equal((await tryLogin(body)).statusCode, 400, JSON.stringify(body))
  const from = { ...ofPage, 'x-forwarded-for': '192.0.2.9' }
  const statuses: number[] = []
  for (let count = 0; count < 11; count++) statuses.push((await tryLogin({ key: 'nonsense' }, from)).statusCode)
  t.same(statuses, [...Array<number>(10).fill(401), 429])
  t.equal((await tryLogin({ key: testKeys.admin }, from)).statusCode, 429, 'the right key waits as well')
})

t.test('at most a hundred attempts a minute are checked, from all addresses together', async t => {
  const statuses = new Set<number>()
  for (let count = 0; count < 100; count++) statuses.add((await tryLogin({ key: 'nonsense' }, { ...ofPage, 'x-forwarded-for': `198.51.100.${count}` })).statusCode)
  t.ok(statuses.has(401))
  t.equal((await tryLogin({ key: testKeys.admin }, { ...ofPage, 'x-forwarded-for': '198.51.100.200' })).statusCode, 429)
})

t.test('where requests are limited, for each key or for a tenant, a person logs in all the same', async t => {
  const limits: Array<Record<string, string>> = [{ RATE_LIMIT_PER_MINUTE: '1' }, { TENANT_LIMITS_JSON: JSON.stringify({ acme: { rate_limit_per_minute: 1 } }) }]
  for (const env of limits) {
    const limited = await injectService(t, { workers: 0, env })
    const login = { method: 'POST', url: '/v1/auth/login', headers: ofPage, payload: { key: testKeys.admin } } as const
    t.same((await Promise.all([limited.app.inject(login), limited.app.inject(login)])).map(({ statusCode }) => statusCode), [200, 200])
  }
})
