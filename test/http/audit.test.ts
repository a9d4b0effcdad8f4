import t from 'tap'
import type { ChangeList } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { answeredBefore } from '../support/answered-before.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { inject, injectService, openTestApi } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  read: {}, limited: { queue_allowlist: ['allowed'] }, boss: { role: 'approver' }, acme: { tenant: 'acme' }, other: { tenant: 'other' }
})
const secret = 'ghp_whatnobodymaysee0123456789'
const { app, client, redis, env } = await injectService(t, {
  files: programs,
  tools: [...entries, { name: 'pay', schema: { type: 'object' }, command: ['./tools/bin/echo'], approval: 'required' }],
  env: {
    SECRETS_KEY: 'a'.repeat(64),
    API_KEYS_JSON
  }
})

const audit = async (query = '', key: string = testKeys.admin): Promise<ChangeList> => (await client.request<ChangeList>(`/v1/audit${query}`, { key })).body

t.test('who has changed what is kept: by key, with what was said of it, and without secrets', async t => {
  const { body: { job } } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.pay', input: {} } })
  await client.request('/v1/queues/default', { method: 'PATCH', body: { paused: true } })
  await client.request('/v1/queues/default', { method: 'PATCH', body: { paused: false } })
  await client.request('/v1/job-types/agentcli.echo', { method: 'PATCH', body: { enabled: true } })
  await client.request('/v1/secrets/github', { method: 'PUT', body: { value: secret, scope: 'operator' } })
  const { headers, body: made } = await client.request<{ key: { key: string } }>('/v1/keys', { body: { name: 'new', role: 'read' } })
  await client.request('/v1/keys/new', { method: 'DELETE' })
  const held = await client.held(job.id)
  await client.decide(held, 'deny', { key: keys.boss, reason: 'Not today.' })
  // A refused request changes nothing.
  await client.request('/v1/keys/nobody', { method: 'DELETE' })
  const { changes } = await waitFor('all are kept', async () => {
    const list = await audit()
    return list.changes.length === 7 && list
  })
  t.match(changes.map(({ key, action, target, about }) => ({ key, action, target, about })), [
    { key: 'boss', action: 'approval.decide', target: job.id, about: { decision: 'deny', reason: 'Not today.', digest: held.approval.digest } },
    { key: 'admin', action: 'key.revoke', target: 'new', about: {} },
    { key: 'admin', action: 'key.make', target: 'new', about: { role: 'read' } },
    { key: 'admin', action: 'secret.set', target: 'github', about: { scope: 'operator' } },
    { key: 'admin', action: 'tool.switch', target: 'agentcli.echo', about: { enabled: true } },
    { key: 'admin', action: 'queue.switch', target: 'default', about: { paused: false } },
    { key: 'admin', action: 'queue.switch', target: 'default', about: { paused: true } }
  ])
  t.equal(changes[2]?.request, headers.get('x-request-id'))
  for (const hidden of [secret, made.key.key]) t.notOk(JSON.stringify(changes).includes(hidden))
})

t.test('the list has pages, and admins of a tenant see the changes of its keys alone', async t => {
  const { body: { job } } = await client.request<{ job: { id: string } }>('/v1/jobs', { key: keys.acme, body: { type: 'agentcli.echo', input: {}, delay_ms: 600_000 } })
  await client.request(`/v1/jobs/${job.id}/cancel`, { key: keys.acme, method: 'POST' })
  const { changes } = await waitFor('it is kept', async () => {
    const list = await audit('', keys.acme)
    return list.changes.length > 0 && list
  })
  t.match(changes, [{ key: 'acme', tenant: 'acme', action: 'job.cancel', target: job.id }])
  t.match((await audit('?tenant=acme')).changes, changes, 'the operator sees those of a tenant')
  const first = await audit('?limit=1')
  t.match(first.changes, [{ key: 'boss' }], 'and nothing of them among its own')
  t.match((await audit(`?limit=1&cursor=${first.next_cursor}`)).changes, [{ action: 'key.revoke' }])
  t.match(await client.request('/v1/audit?tenant=other', { key: keys.acme }), { status: 403, body: { error: { message: /its own tenant alone/ } } })
  t.match(await client.request('/v1/audit', { key: testKeys.limited }), { status: 403, body: { error: { message: /bound to queues/ } } })
  t.match(await client.request('/v1/audit?tenant=a/b'), { status: 400, body: { error: { message: "'tenant' must be the name of a tenant" } } })
  t.match(await client.request('/v1/audit', { key: testKeys.read }), { status: 403 })
  t.match(await client.request('/v1/audit?limit=0'), { status: 400, body: { error: { message: "'limit' must be an integer 1..200" } } })
  for (const cursor of ['x', '0-0']) t.match(await client.request(`/v1/audit?cursor=${cursor}`), { status: 400, body: { error: { message: /'cursor' must be/ } } })
  t.match(await client.request('/v1/audit?keys=x'), { status: 400, body: { error: { message: /'keys' is not a known parameter/ } } })
})

t.test('who asks for a list of changes waits for few lists of another tenant, however many that asks for', async t => {
  const trail = plainRedis(t, redis)
  const change = JSON.stringify({ key: 'acme', tenant: 'acme', action: 'job.cancel', target: 'x'.repeat(1_000), about: {}, request: 'r' })
  await Promise.all(Array.from({ length: 200 }, () => trail.xadd('toolyard:changes:acme', '*', 'c', change)))
  const before = await answeredBefore(async () => { t.equal((await audit('?limit=200', keys.acme)).changes.length, 200) }, async () => await audit('', keys.other))
  t.ok(before < 15, `${before} of 30 were answered before`)
})

t.test('a decision that counts, though it was answered 503, is kept, and so is that of the repeat', async t => {
  const { body: { job } } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.pay', input: {} } })
  const held = await client.held(job.id)
  const cautious = createClient(inject(await openTestApi(t, { ...env, REDIS_WAIT_REPLICAS: '1' })), testKeys.admin)
  t.equal((await cautious.decide(held, 'deny', { key: keys.boss })).status, 503, 'no replica has it')
  t.match((await client.held(job.id)).approval, { state: 'denied', decisions: [{ key: 'boss' }] })
  t.equal((await client.decide(held, 'deny', { key: keys.boss })).status, 200)
  const about = { decision: 'deny', digest: held.approval.digest }
  const { changes } = await waitFor('all are kept', async () => {
    const list = await audit()
    return list.changes.filter(({ target }) => target === job.id).length === 2 && list
  })
  t.same(changes.slice(0, 2).map(change => change.about), [about, { ...about, answered: 503 }])
})

t.test('a decision that counts is kept where its answer has no room, since its owner reads none', async t => {
  const { body: { job } } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'agentcli.pay', input: { text: 'x'.repeat(100_000) } } })
  const held = await client.held(job.id)
  const boss = { name: 'boss', role: 'approver' as const, tenant: undefined, queueAllowlist: undefined, permissions: undefined, sse: true, proof: '' }
  const letGo = app.unsent.hold(boss, 300 * 1_024 * 1_024)
  const { status, body } = await client.decide(held, 'deny', { key: keys.boss })
  letGo()
  t.match({ status, body }, { status: 503, body: { error: { code: 'UNAVAILABLE', details: { may_exist: true } } } })
  await waitFor('it is kept', async () => (
    (await audit()).changes.some(({ key, target, about }) => key === 'boss' && target === job.id && about['answered'] === 503)
  ))
})
