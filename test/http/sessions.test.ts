import t from 'tap'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionView } from '@toolyard/contract'
import { answeredBefore } from '../support/answered-before.ts'
import type { Answer } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  admin: { name: 'operator' },
  acme: { name: 'acme-1', tenant: 'acme' },
  acmeToo: { name: 'acme-2', tenant: 'acme' },
  acmeReads: { name: 'acme-3', role: 'read', tenant: 'acme' },
  acmeBound: { name: 'acme-4', tenant: 'acme', permissions: ['read_repo'] },
  other: { tenant: 'other' },
  small: { tenant: 'small' },
  many: { tenant: 'many' }
})
const templates = await mkdtemp(join(tmpdir(), 'toolyard-templates-'))
t.teardown(() => rm(templates, { recursive: true }))
await mkdir(join(templates, 'blank'))
await writeFile(join(templates, 'a-file'), '')
const service = await injectService(t, {
  workers: 0,
  env: {
    SESSION_QUOTA_BYTES: '1000000',
    TENANT_LIMITS_JSON: '{"small": {"max_session_bytes": 2500000}}',
    SESSION_TEMPLATES_DIR: templates,
    API_KEYS_JSON
  }
})
const { client } = service
const redis = plainRedis(t, service.redis)

type One = Answer<{ session: SessionView }>
type Page = { sessions: SessionView[], next_cursor: string | null }
const ask = async (method: string, path: string, key: string): Promise<One> => await client.request(`/v1/sessions${path}`, { method, key })
const make = async (body: unknown = {}, key: string = keys.acme): Promise<One> => await client.request('/v1/sessions', { body, key })
const list = async (query: string, key: string): Promise<Page> => (await client.request<Page>(`/v1/sessions${query}`, { key })).body
const ids = ({ sessions }: Page): string[] => sessions.map(({ id }) => id)

t.test('a session is made with the values of the settings, and read by its tenant', async t => {
  const made = await make({}, keys.acme)
  t.equal(made.status, 201)
  const { session } = made.body
  t.match(session, { tenant: 'acme', key: 'acme-1', state: 'open', from: null, ttl_sec: 86_400, quota_bytes: 1_000_000, used_bytes: null })
  t.equal(Date.parse(session.expires_at) - Date.parse(session.last_used_at), 86_400_000)
  for (const key of [keys.acme, keys.acmeToo, keys.acmeReads, testKeys.admin]) t.same((await ask('GET', `/${session.id}`, key)).body.session, session)
})

t.test('a session may begin as a copy of the operator\'s template, and ask for less than the settings allow', async t => {
  t.match((await make({ from: 'blank', ttl_sec: 60, quota_bytes: 1 })).body, { session: { from: 'blank', ttl_sec: 60, quota_bytes: 1 } })
  t.match((await client.request('/v1/sessions', { method: 'POST', key: keys.acme })).body, { session: { from: null, ttl_sec: 86_400 } })
})

t.test('for another tenant a session gives the same answer as a missing one', async t => {
  const { id } = (await make()).body.session
  const free = (await make({}, testKeys.admin)).body.session.id
  const missing = await ask('GET', '/01a00000-0000-7000-8000-000000000000', keys.other)
  t.equal(missing.status, 404)
  for (const path of [`/${id}`, `/${free}`, '/..', '/a%2fb', `/${id.toUpperCase()}`]) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await ask(method, path, keys.other)
      t.equal(answer.status, 404, `${method} ${path}`)
    }
  }
  t.same({ ...(await ask('DELETE', `/${id}`, keys.other)).body, request_id: 0 }, { ...missing.body, request_id: 0 })
  t.notOk(ids(await list('', keys.other)).includes(id))
  t.same((await list('?tenant=acme', keys.other)).sessions, [])
  t.equal((await ask('GET', `/${id}`, keys.acme)).body.session.state, 'open')
})

t.test('a read key makes and removes no session', async t => {
  const { id } = (await make()).body.session
  t.equal((await make({}, keys.acmeReads)).status, 403)
  t.equal((await ask('DELETE', `/${id}`, keys.acmeReads)).status, 403)
})

t.test('pages have the sessions of the tenant, newest first', async t => {
  const made: string[] = []
  for (let index = 0; index < 5; index++) {
    made.unshift((await make({}, keys.other)).body.session.id)
    await make()
  }
  const first = await list('?limit=3', keys.other)
  t.same(ids(first), made.slice(0, 3))
  const second = await list(`?limit=3&cursor=${first.next_cursor ?? ''}`, keys.other)
  t.same([ids(second), second.next_cursor], [made.slice(3), null])
  t.same(ids(await list('?limit=200&tenant=other', testKeys.admin)), made)
  t.ok((await list('?limit=200', testKeys.admin)).sessions.length > made.length)
})

t.test('a removed session is marked as removed, also by a second request', async t => {
  const { id } = (await make()).body.session
  for (const key of [keys.acmeToo, testKeys.admin]) {
    const answer = await ask('DELETE', `/${id}`, key)
    t.match([answer.status, answer.body], [202, { session: { id, state: 'removing' } }])
  }
  t.match((await ask('GET', `/${id}`, keys.acme)).body, { session: { state: 'removing' } })
})

t.test("a session's time ends by Redis' clock", async t => {
  const { id } = (await make({ ttl_sec: 1 })).body.session
  await waitFor('it is removed', async () => (await ask('GET', `/${id}`, keys.acme)).body.session.state === 'removing')
  t.ok(await redis.sismember('toolyard:{sessions}:removing', id))
})

t.test('an invalid new session is refused with the reason', async t => {
  const cases: Array<[unknown, RegExp]> = [
    [[], /must be an object/],
    [{ ttl_sec: 0 }, /^'ttl_sec' must be integer 1\.\.2592000/],
    [{ ttl_sec: '60' }, /^'ttl_sec'/],
    [{ quota_bytes: 0.5 }, /^'quota_bytes' must be integer/],
    [{ quota_bytes: 1_000_001 }, /at most 1000000, which SESSION_QUOTA_BYTES allows/],
    [{ from: '../workspace' }, /^'from' must match/],
    [{ from: '..' }, /^'from' must match/],
    [{ from: 'blank/x' }, /^'from' must match/],
    [{ from: 'missing' }, /^'from' names no template: it is a directory of SESSION_TEMPLATES_DIR$/],
    [{ from: 'a-file' }, /^'from' names no template/],
    [{ path: '/etc' }, /'path' is not a known field/]
  ]
  for (const [body, text] of cases) {
    const answer = await make(body)
    t.match([answer.status, answer.body], [400, { error: { code: 'VALIDATION_ERROR', message: text } }], JSON.stringify(body))
  }
  for (const query of ['?limit=0', '?limit=201', '?cursor=x', '?tenant=A', '?page=2', '?limit=1&limit=2']) {
    t.equal((await client.request(`/v1/sessions${query}`)).status, 400, query)
  }
})

t.test('a key without write_files removes the sessions that it has made, and no others with their files', async t => {
  const remove = async ({ body: { session } }: One, key: string): Promise<number> => (await ask('DELETE', `/${session.id}`, key)).status
  const others = await make()
  t.equal(await remove(await make({}, keys.acmeBound), keys.acmeBound), 202)
  t.same([await remove(others, keys.acmeBound), await remove(others, keys.acme)], [403, 202])
})

t.test('max_session_bytes of TENANT_LIMITS_JSON holds for the quotas of all sessions of a tenant, and of no other', async t => {
  const bytes = async (quota?: number): Promise<One> => await make(quota === undefined ? {} : { quota_bytes: quota }, keys.small)
  const first = await bytes()
  t.same([first.status, (await bytes()).status], [201, 201])
  const refused = await bytes()
  t.match(refused, { status: 409, body: { error: { code: 'CONFLICT', message: /may come to 2500000 bytes \(max_session_bytes\), of which 500000 are left: ask for 'quota_bytes' of that/ } } })
  t.equal((await bytes(500_000)).status, 201)
  t.match(await bytes(1), { status: 409, body: { error: { message: /of which 0 are left/ } } })
  t.equal((await make()).status, 201, 'another tenant has no such limit')
  await ask('DELETE', `/${first.body.session.id}`, keys.small)
  t.equal((await bytes()).status, 409, 'until its files are removed a session counts')
})

t.test('a session shows what its files take after an upload, and after files are removed', async t => {
  const { body: { session: { id } } } = await make()
  const takes = async (fits: (bytes: number) => boolean): Promise<unknown> => await waitFor('the usage is noted', async () => {
    const { used_bytes: used } = (await ask('GET', `/${id}`, keys.acme)).body.session
    return used !== null && fits(used)
  })
  const put = async (path: string): Promise<void> => {
    t.equal((await client.request(`/v1/sessions/${id}/files/${path}`, { method: 'PUT', body: 'x'.repeat(60_000), key: keys.acme })).status, 201)
  }
  await put('one.txt')
  await takes(bytes => bytes >= 60_000)
  await put('two.txt')
  await takes(bytes => bytes >= 120_000)
  t.equal((await ask('DELETE', `/${id}/files/two.txt`, keys.acme)).status, 204)
  await takes(bytes => bytes >= 60_000 && bytes < 120_000)
  t.equal((await ask('DELETE', `/${id}/files/one.txt`, keys.acme)).status, 204)
  await takes(bytes => bytes < 60_000)
})

t.test('who lists sessions waits for few lists of another tenant, however many that asks for', async t => {
  for (let made = 0; made < 200; made += 20) await Promise.all(Array.from({ length: 20 }, async () => await make({}, keys.many)))
  const before = await answeredBefore(async () => { t.equal((await list('?limit=200', keys.many)).sessions.length, 200) }, async () => await list('', keys.other))
  t.ok(before < 15, `${before} of 30 were answered before`)
})
