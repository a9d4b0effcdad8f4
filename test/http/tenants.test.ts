import t from 'tap'
import type { InvokeBatchResponse } from '@toolyard/contract'
import { readSettings } from '@toolyard/runtime'
import { injectService } from '../support/injected.ts'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, post, reach, submit, type Job } from '../jobs/submission.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  admin: { name: 'operator' },
  acme: { name: 'acme-1', tenant: 'acme' },
  acmeToo: { name: 'acme-2', tenant: 'acme' },
  acmeReads: { name: 'acme-3', role: 'read', tenant: 'acme' },
  other: { tenant: 'other' },
  slow: { role: 'read', tenant: 'slow' },
  slowToo: { name: 'slow-too', role: 'read', tenant: 'slow' }
})
const service = await injectService(t, {
  files: programs,
  tools: entries,
  env: {
    MAX_JOBS_PER_KEY: '100',
    TENANT_LIMITS_JSON: JSON.stringify({ '*': { max_jobs: 40 }, slow: { rate_limit_per_minute: 3 } }),
    API_KEYS_JSON
  }
})
const { client } = service
const echo = 'agentcli.echo'
const ids = (jobs: ReadonlyArray<{ id: string }>): string[] => jobs.map(({ id }) => id)

t.test('whoami names the tenant of a key', async t => {
  t.match((await client.request('/v1/auth/whoami', { key: keys.acme })).body, { auth: { name: 'acme-1', tenant: 'acme' } })
  t.notOk('tenant' in ((await client.request<{ auth: object }>('/v1/auth/whoami')).body.auth))
})

t.test('lists that a tenant asks for all at once hold up no list of another one: they take turns', async t => {
  await submit(client, { type: echo }, { key: keys.other })
  let answered = 0
  const all = Array.from({ length: 30 }, async (_, index) => {
    const { status } = await client.request(index % 2 === 0 ? '/v1/jobs?text=x' : '/v1/jobs/counts?text=x', { key: keys.acme })
    answered += 1
    return status
  })
  const { status } = await client.request('/v1/jobs?text=x', { key: keys.other })
  t.equal(status, 200)
  t.ok(answered < 15, `${answered} of 30 were answered before`)
  t.strictSame([...new Set(await Promise.all(all))], [200])
})

t.test('a large job that a tenant reads many times at once holds up no other tenant', async t => {
  const { id } = await submit(client, { type: echo, input: { text: 'x'.repeat(900_000) }, delay_ms: 60_000 }, { key: keys.acme })
  let answered = 0
  const all = Array.from({ length: 40 }, async () => {
    const { status } = await client.request(`/v1/jobs/${id}`, { key: keys.acme })
    answered += 1
    return status
  })
  await submit(client, { type: echo }, { key: keys.other })
  t.ok(answered < 30, `${answered} of 40 were answered before`)
  t.strictSame([...new Set(await Promise.all(all))], [200])
  await cancel(client, id, { key: keys.acme })
})

t.test('only the keys of a tenant and the operator see its jobs', async t => {
  const own = await submit(client, { type: echo, input: { own: 1 }, tags: ['first'] }, { key: keys.acme })
  t.equal(own.tenant, 'acme')
  const foreign = await submit(client, { type: echo, tags: ['first'] }, { key: keys.other })
  const free = await submit(client, { type: echo, tags: ['first'] })
  for (const { id } of [own, foreign, free]) await reach(client, id, 'succeeded')
  for (const key of [keys.acme, keys.acmeToo, keys.acmeReads]) {
    t.same(ids((await list(client, '?tag=first', { key })).jobs), [own.id])
    t.equal((await client.request(`/v1/jobs/${own.id}`, { key })).status, 200)
  }
  t.same(ids((await list(client, '?tag=first', { key: keys.other })).jobs), [foreign.id])
  t.same(ids((await list(client, '?tag=first')).jobs), [free.id, foreign.id, own.id])
  for (const to of ['2100-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
    t.same(ids((await list(client, `?tag=first&to=${to}`)).jobs), [free.id, foreign.id, own.id], to)
    t.same(ids((await list(client, `?tag=first&order=oldest&to=${to}`)).jobs), [own.id, foreign.id, free.id], to)
  }
  t.same(ids((await list(client, '?tenant=acme&tag=first')).jobs), [own.id])
  t.same(ids((await list(client, '?tenant=acme', { key: keys.other })).jobs), [])
  const missing = (await client.request('/v1/jobs/01a00000-0000-7000-8000-000000000000', { key: keys.other })).body
  for (const path of ['', '/logs', '/stream']) {
    for (const { id } of [own, free]) {
      const answer = await client.request(`/v1/jobs/${id}${path}`, { key: keys.other })
      t.equal(answer.status, 404, path)
      t.same({ ...answer.body, request_id: 0 }, { ...missing, request_id: 0 })
    }
  }
  const late = await submit(client, { type: echo, delay_ms: 60_000 }, { key: keys.acme })
  t.equal((await cancel(client, late.id, { key: keys.other })).status, 404)
  t.equal((await cancel(client, late.id, { key: keys.acmeToo })).status, 200)
})

t.test('pages of a tenant are full, and a next page exists only for its own jobs', async t => {
  const own: string[] = []
  for (let index = 0; index < 5; index++) {
    own.unshift((await submit(client, { type: echo, tags: ['paged'], delay_ms: 60_000 }, { key: keys.acme })).id)
    await submit(client, { type: echo, tags: ['paged'], delay_ms: 60_000 }, { key: keys.other })
  }
  const first = await list(client, '?tag=paged&limit=3', { key: keys.acme })
  t.same(ids(first.jobs), own.slice(0, 3))
  const second = await list(client, `?tag=paged&limit=3&cursor=${first.next_cursor ?? ''}`, { key: keys.acme })
  t.same(ids(second.jobs), own.slice(3))
  for (const id of own) await cancel(client, id)
})

t.test('the keys of a tenant share an Idempotency-Key, and share none with another tenant', async t => {
  const body = { type: echo, input: { once: true } }
  const send = async (key: string): Promise<{ job: Job, idempotent: boolean }> => (await post(client, body, { key, headers: { 'idempotency-key': 'one' } })).body
  const made = await send(keys.acme)
  t.match(await send(keys.acmeToo), { idempotent: true, job: { id: made.job.id } })
  t.match(await send(keys.other), { idempotent: false })
  t.match(await send(testKeys.admin), { idempotent: false })
})

t.test('in depends_on, a job of another tenant and a job that never existed give the same error', async t => {
  const foreign = await submit(client, { type: echo, delay_ms: 60_000 }, { key: keys.other })
  const { id } = await submit(client, { type: echo, depends_on: [foreign.id] }, { key: keys.acme })
  t.match((await reach(client, id, 'failed')).error, { code: 'DEPENDENCY_BLOCKED', details: { dependencies: [{ status: 'missing' }] } })
  await cancel(client, foreign.id)
})

t.test('a stream ticket opens the jobs that its key sees, and no job of another tenant', async t => {
  const { id } = await submit(client, { type: echo }, { key: keys.acme })
  await reach(client, id, 'succeeded')
  const { token } = (await client.request<{ token: string }>('/v1/auth/sse-token', { key: keys.other, body: { job_id: id } })).body
  t.equal((await client.request(`/v1/jobs/${id}/stream?stream_token=${token}`, { key: null })).status, 404)
})

t.test('max_jobs of TENANT_LIMITS_JSON holds for all keys of a tenant together', async t => {
  const add = async (key: string, count: number): Promise<InvokeBatchResponse> => await client.batch(
    Array.from({ length: count }, (_, index) => ({ call_id: String(index), name: 'nap', arguments: { ms: 100 } })), { mode: 'async' }, key
  )
  const answers = [...await Promise.all([add(keys.acme, 20), add(keys.acmeToo, 20)]), await add(keys.acme, 20)]
  const refused = answers.flatMap(({ results }) => results).filter(({ ok }) => !ok)
  t.ok(refused.length > 0)
  for (const { error } of refused) t.match(error, { code: 'QUEUE_FULL', message: "Tenant 'acme' has 40 unfinished jobs already, the most that one may have" })
  t.ok((await add(keys.other, 20)).results.every(({ ok }) => ok))
})

t.test('rate_limit_per_minute of TENANT_LIMITS_JSON holds for all keys of a tenant together, and for no other', async t => {
  const statuses: number[] = []
  for (const key of [keys.slow, keys.slowToo, keys.slow, keys.slowToo]) statuses.push((await client.request('/v1/auth/whoami', { key })).status)
  t.same(statuses, [200, 200, 200, 429])
  for (let index = 0; index < 5; index++) t.equal((await client.request('/v1/auth/whoami', { key: keys.other })).status, 200)
})

t.test('TENANT_LIMITS_JSON that makes no sense stops the start', async t => {
  const cases: Array<[string, RegExp]> = [
    ['x', /^ +TENANT_LIMITS_JSON must be JSON/m],
    ['[]', /^ +TENANT_LIMITS_JSON must be a JSON object of tenants/m],
    ['{"Acme": {}}', /^ +TENANT_LIMITS_JSON: "Acme" must match /m],
    ['{"acme": 5}', /^ +TENANT_LIMITS_JSON: acme must be an object/m],
    ['{"acme": {"max_job": 5}}', /acme has an unknown field 'max_job' \(known: max_jobs, rate_limit_per_minute, max_running, max_session_bytes, hosts\)/],
    ['{"acme": {"hosts": ["http://a.test"]}}', /hosts of acme must be an array of at most 100 hosts/],
    ['{"acme": {"max_jobs": -1}}', /max_jobs of acme must be an integer 0\.\./]
  ]
  for (const [text, message] of cases) t.throws(() => readSettings({ TENANT_LIMITS_JSON: text }), message, text)
})

t.test('routes that concern all tenants are only for keys without a tenant', async t => {
  for (const [path, method] of [['/metrics', 'GET'], ['/dashboard/', 'GET'], ['/v1/job-types/agentcli.echo', 'PATCH']] as const) {
    const answer = await client.request(path, { method, key: keys.acme, ...method === 'PATCH' && { body: { enabled: false } } })
    t.equal(answer.status, 403, path)
    t.match(answer.text, /without a tenant/)
  }
})
