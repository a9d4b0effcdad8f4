import { consoleHeader } from '@toolyard/contract'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { logIn, visit } from './visitor.ts'

const service = await createService(t, { workers: 0, env: { TRUST_PROXY: 'loopback' } })
const { address } = service.api
const other = await service.startApi()
/** Each test logs in from an address of its own, as attempts are counted. */
const from = (ip: string, more: Record<string, string> = {}): Record<string, string> => ({ 'x-forwarded-for': ip, ...more })
const queues = async (at: string, cookie: string): Promise<number> => (await visit(`${at}/dashboard/api/queues`, { headers: { cookie } })).status

t.test('fault 41 who has not logged in is sent to the console, and gets nothing else', async t => {
  for (const path of ['', '/', '/queue/default', '/queue/default/1', '/static/favicon.ico']) {
    const page = await visit(`${address}/dashboard${path}`)
    t.match([page.status, page.headers.get('location')], [303, '/?then=dashboard'], path)
  }
  for (const path of ['/api/queues', '/api/redis/stats']) {
    t.match(await visit(`${address}/dashboard${path}`), { status: 401, body: { ok: false, error: { code: 'UNAUTHORIZED' } } }, path)
  }
})

t.test('fault 41 a key in the header is as good as a login, and only that of an admin is', async t => {
  for (const [key, status] of [[testKeys.admin, 200], [testKeys.read, 403], ['nonsense', 401]] as const) {
    t.equal((await visit(`${address}/dashboard/api/queues`, { headers: { 'x-api-key': key } })).status, status)
  }
  t.notMatch(await service.api.output(), testKeys.admin, 'fault 39 no key in the log')
})

t.test('over https the cookie stays there', async t => {
  const login = await visit(`${address}/v1/auth/login`, {
    method: 'POST',
    headers: from('192.0.2.2', { 'content-type': 'application/json', 'x-forwarded-proto': 'https', 'sec-fetch-site': 'same-origin' }),
    body: JSON.stringify({ key: testKeys.admin })
  })
  t.match(login.headers.get('set-cookie'), /; Secure$/)
})

t.test('every API process knows a session, and none does after the logout', async t => {
  const cookie = await logIn(address, testKeys.admin, from('192.0.2.3'))
  t.same([await queues(address, cookie), await queues(other.address, cookie)], [200, 200])
  const out = await visit(`${other.address}/v1/auth/logout`, { method: 'POST', headers: { cookie, [consoleHeader]: '1', 'sec-fetch-site': 'same-origin' } })
  t.match([out.status, out.headers.get('set-cookie')], [200, /^toolyard_login=; .*Max-Age=0/])
  t.same([await queues(address, cookie), await queues(other.address, cookie)], [401, 401])
})

t.test('a forged session is refused', async t => {
  const cookie = await logIn(address, testKeys.admin, from('192.0.2.4'))
  const [body = '', signature = ''] = cookie.slice('toolyard_login='.length).split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
  const forge = (change: object): string => Buffer.from(JSON.stringify({ ...claims, ...change })).toString('base64url')
  for (const forged of [`${forge({ end: 9e15 })}.${signature}`, `${forge({ key: 'limited' })}.${signature}`, `${body}.`, `${body}.${'A'.repeat(signature.length)}`, `${body}.${'A'.repeat(signature.length - 1)}é`, body, '', '.', `${forge({ id: '../x' })}.${signature}`]) {
    t.equal(await queues(address, `toolyard_login=${forged}`), 401, forged)
  }
  t.equal(await queues(address, `other=1; ${cookie}`), 200)
})

t.test('fault 38 a session ends with its key', async t => {
  const [cookie, limited] = [await logIn(address, testKeys.admin, from('192.0.2.5')), await logIn(address, testKeys.limited, from('192.0.2.5'))]
  const { address: changed } = await service.startApi({
    API_KEYS_JSON: JSON.stringify([{ name: 'admin', key: 'another-admin-key-0123456789', role: 'admin' }, { name: 'limited', key: testKeys.limited, role: 'read' }])
  })
  t.same([await queues(changed, cookie), await queues(changed, limited)], [401, 403], 'that was replaced, or may only read now')
  t.same([await queues(address, cookie), await queues(address, limited)], [200, 200])
})

t.test('logins are throttled per network, over all API processes', async t => {
  const attempt = async (at: string, ip: string, key = 'nonsense'): Promise<number> => (await visit(`${at}/v1/auth/login`, {
    method: 'POST', headers: from(ip, { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }), body: JSON.stringify({ key })
  })).status
  for (let count = 0; count < 10; count++) t.equal(await attempt(count % 2 === 0 ? address : other.address, '2001:db8:1:2::1'), 401)
  t.equal(await attempt(other.address, '2001:db8:1:2:ffff::7', testKeys.admin), 429, 'also with the right key, and from another address of the same network')
  t.equal(await attempt(address, '2001:db8:1:3::1', testKeys.admin), 200, 'others log in')
  for (let count = 0; count < 10; count++) t.equal(await attempt(address, `203.0.113.9:${40_000 + count}`), 401)
  t.equal(await attempt(address, '203.0.113.9:50000', testKeys.admin), 429, 'whatever port a proxy says')
})

t.test('pages can\'t be framed, aren\'t cached, and run only their own scripts', async t => {
  const cookie = await logIn(address, testKeys.admin, from('192.0.2.7'))
  for (const path of ['/', '/api/queues', '/static/locales/en-US/messages.json', '/api/nonsense']) {
    const { headers } = await visit(`${address}/dashboard${path}`, { headers: { cookie } })
    t.match(headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/, path)
    t.notMatch(headers.get('content-security-policy'), /script-src[^;]*unsafe/)
    t.same([headers.get('x-content-type-options'), headers.get('x-frame-options')], ['nosniff', 'DENY'])
    if (!path.startsWith('/static')) t.equal(headers.get('cache-control'), 'no-store')
  }
  const board = await visit(`${address}/dashboard`, { headers: { cookie } })
  t.match(board.text, '<base href="/dashboard/" />')
  t.notMatch(board.text, /<%/, 'nothing is left to fill in')
  for (const path of ['../index.ejs', '..%2findex.ejs', '%2e%2e/index.ejs', 'js/async', 'nonsense.js']) {
    t.equal((await visit(`${address}/dashboard/static/${path}`, { headers: { cookie } })).status, 404, path)
  }
})
