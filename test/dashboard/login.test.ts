import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { logIn, tryLogin, visit, type Page } from './visitor.ts'

const service = await createService(t, { workers: 0, env: { TRUST_PROXY: 'loopback' } })
const { address } = service.api
const other = await service.startApi()
/** Each test logs in from an address of its own, as attempts are counted. */
const from = (ip: string, more: Record<string, string> = {}): Record<string, string> => ({ 'x-forwarded-for': ip, ...more })
const queues = async (at: string, cookie: string): Promise<number> => (await visit(`${at}/dashboard/api/queues`, { headers: { cookie } })).status

t.test('fault 41 without a session there is a login page and nothing else', async t => {
  for (const path of ['', '/', '/queue/default', '/queue/default/1', '/logout']) {
    const page = await visit(`${address}/dashboard${path}`)
    t.match([page.status, page.headers.get('location')], [303, '/dashboard/login'], path)
  }
  for (const [path, method] of [['/api/queues', 'GET'], ['/api/redis/stats', 'GET'], ['/static/favicon.ico', 'GET'], ['/api/queues/default/pause', 'PUT']] as const) {
    const answer = await visit(`${address}/dashboard${path}`, { method, headers: { 'sec-fetch-site': 'same-origin' } })
    t.equal(answer.status, 401, path)
    t.match(answer.body, { ok: false, error: { code: 'UNAUTHORIZED' } })
  }
  t.equal((await visit(`${address}/dashboard/login`)).status, 200)
})

t.test('fault 41 only the key of an admin logs in, and no answer has it again', async t => {
  const ip = '192.0.2.1'
  for (const [key, status] of [['', 401], ['nonsense', 401], [testKeys.read, 403]] as const) {
    const page = await tryLogin(address, key, from(ip))
    t.equal(page.status, status)
    t.equal(page.headers.get('set-cookie'), null)
    t.notMatch(page.text, testKeys.read)
  }
  t.equal((await tryLogin(address, testKeys.admin, from(ip))).status, 303)
  for (const [key, status] of [[testKeys.admin, 200], [testKeys.read, 403], ['nonsense', 401]] as const) {
    t.equal((await visit(`${address}/dashboard/api/queues`, { headers: { 'x-api-key': key } })).status, status, 'a key in the header is as good')
  }
  t.notMatch(await service.api.output(), testKeys.admin, 'fault 39 no key in the log')
})

t.test('the cookie is sent by no script and no other site', async t => {
  const plain = (await tryLogin(address, testKeys.admin, from('192.0.2.2'))).headers.get('set-cookie') ?? ''
  t.match(plain, /^toolyard_login=[\w-]+\.[\w-]+; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/)
  t.notMatch(Buffer.from(plain.slice(plain.indexOf('=') + 1), 'base64url').toString(), testKeys.admin)
  const tls = await tryLogin(address, testKeys.admin, from('192.0.2.2', { 'x-forwarded-proto': 'https', 'sec-fetch-site': 'same-origin' }))
  t.match(tls.headers.get('set-cookie'), /; Secure$/, 'over https it stays there')
})

t.test('every API process knows a session, and none does after the logout', async t => {
  const cookie = await logIn(address, testKeys.admin, from('192.0.2.3'))
  t.same([await queues(address, cookie), await queues(other.address, cookie)], [200, 200])
  t.match((await visit(`${address}/dashboard/logout`, { headers: { cookie } })).text, /“admin”/)
  t.equal(await queues(address, cookie), 200, 'looking at the page ends nothing')
  const out = await visit(`${other.address}/dashboard/logout`, { form: {}, headers: { cookie } })
  t.match([out.status, out.headers.get('location'), out.headers.get('set-cookie')], [303, '/dashboard/login', /^toolyard_login=; .*Max-Age=0/])
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

t.test('logins are throttled per address, over all API processes', async t => {
  const attempt = async (at: string, ip: string, key = 'nonsense'): Promise<Page> => await tryLogin(at, key, from(ip))
  for (let count = 0; count < 10; count++) t.equal((await attempt(count % 2 === 0 ? address : other.address, '2001:db8:1:2::1')).status, 401)
  const refused = await attempt(other.address, '2001:db8:1:2:ffff::7', testKeys.admin)
  t.equal(refused.status, 429, 'also with the right key, and from another address of the same network')
  const wait = Number(refused.headers.get('retry-after'))
  t.ok(wait > 250 && wait <= 300, `${wait} s`)
  t.equal((await attempt(address, '2001:db8:1:3::1', testKeys.admin)).status, 303, 'others log in')
})

t.test('fault 41 a change from another site is refused, whatever the cookie', async t => {
  const cookie = await logIn(address, testKeys.admin, from('192.0.2.6'))
  const pause = async (headers: Record<string, string>): Promise<number> => (await visit(`${address}/dashboard/api/queues/pause`, { method: 'PUT', headers: { cookie, ...headers } })).status
  t.equal(await pause({}), 403, 'a browser says where it comes from')
  t.equal(await pause({ origin: 'https://evil.example' }), 403)
  t.equal(await pause({ origin: 'null' }), 403)
  t.equal(await pause({ origin: address.replace(/\d+$/, '1') }), 403, 'another port is another origin')
  for (const site of ['cross-site', 'same-site', 'none']) t.equal(await pause({ 'sec-fetch-site': site, origin: address }), 403, site)
  t.equal(await pause({ origin: address }), 200)
  t.equal(await pause({ 'sec-fetch-site': 'same-origin', origin: 'https://toolyard.example' }), 200, 'a proxy may have changed the host')
  for (const path of ['login', 'logout']) {
    const posted = await visit(`${address}/dashboard/${path}`, { form: { key: testKeys.admin }, headers: { cookie, origin: 'https://evil.example' } })
    t.match([posted.status, posted.headers.get('set-cookie')], [403, null], path)
  }
  t.equal(await queues(address, cookie), 200, 'nobody was logged out')
})

t.test('pages can\'t be framed, aren\'t cached, and run only their own scripts', async t => {
  const cookie = await logIn(address, testKeys.admin, from('192.0.2.7'))
  for (const path of ['/', '/login', '/api/queues', '/static/locales/en-US/messages.json', '/api/nonsense']) {
    const { headers } = await visit(`${address}/dashboard${path}`, { headers: { cookie } })
    t.match(headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/, path)
    t.notMatch(headers.get('content-security-policy'), /script-src[^;]*unsafe/)
    t.match([headers.get('x-content-type-options'), headers.get('x-frame-options'), headers.get('cache-control')], ['nosniff', 'DENY', 'no-store'])
  }
  const board = await visit(`${address}/dashboard`, { headers: { cookie } })
  t.match(board.text, '<base href="/dashboard/" />')
  t.notMatch(board.text, /<%|https?:\/\/(?!felixmosh)/, 'nothing is left to fill in, or loaded from elsewhere')
  for (const path of ['../index.ejs', '..%2findex.ejs', '%2e%2e/index.ejs', 'js/async', 'nonsense.js']) {
    t.equal((await visit(`${address}/dashboard/static/${path}`, { headers: { cookie } })).status, 404, path)
  }
})
