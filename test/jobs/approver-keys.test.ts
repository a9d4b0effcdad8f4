import type { ApprovalDetail, ChangeList } from '@toolyard/contract'
import t from 'tap'
import { createClient, type Client } from '../support/client.ts'
import { inject, injectService, openTestApi } from '../support/injected.ts'
import { makeKeys } from '../support/service.ts'
import { cancel, reach } from './submission.ts'

/* Keys that are revoked, and made again under the same name, while a call waits for those who approve it. */

const schema = { type: 'object', properties: {} }
const service = await injectService(t, {
  files: { 'tools/bin/pay': '#!/bin/sh\necho paid\n' },
  tools: [
    { name: 'pay', schema, command: ['./tools/bin/pay'], approval: 'required' },
    { name: 'twice', schema, command: ['./tools/bin/pay'], approval: { approvers: 2 } },
    { name: 'named', schema, command: ['./tools/bin/pay'], approval: { by: ['boss'] } }
  ]
})
const { client } = service

async function makeKey (name: string, role = 'approver', rest: object = {}): Promise<string> {
  return (await client.request<{ key: { key: string } }>('/v1/keys', { body: { name, role, ...rest } })).body.key.key
}

async function revoke (name: string): Promise<void> {
  t.equal((await client.request(`/v1/keys/${name}`, { method: 'DELETE' })).status, 200)
}

/** Revokes a key, and makes one that may do the same. */
async function makeAnew (name: string, role?: string): Promise<string> {
  await revoke(name)
  return await makeKey(name, role)
}

async function hold (tool: string, key?: string): Promise<string> {
  return (await client.call(tool, {}, {}, key)).job_id ?? ''
}

async function approve (id: string, key: string): Promise<{ status: number, body: { approval?: ApprovalDetail }, text: string }> {
  return await client.decide(await client.held(id), 'approve', { key })
}

t.test('one person whose key is revoked and made anew, under the same name or another one, does not approve for two', async t => {
  const id = await hold('twice')
  t.match(await approve(id, await makeKey('ann')), { status: 200, body: { approval: { status: 'held' } } })
  t.match(await approve(id, await makeAnew('ann')), { status: 200, body: { approval: { status: 'held' } } })
  await revoke('ann')
  t.match(await approve(id, await makeKey('ann2')), { status: 200, body: { approval: { status: 'held' } } })
  t.match((await client.held(id)).approval.decisions, [{ key: 'ann', revoked: true }, { key: 'ann', revoked: true }, { key: 'ann2', revoked: undefined }])
  t.match(await approve(id, await makeKey('bea')), { status: 200, body: { approval: { approval: { state: 'approved' } } } })
  await reach(client, id, 'succeeded')
})

t.test('a key that has the name of one that approved, and was revoked, has not said the same before', async t => {
  const id = await hold('twice')
  const first = await makeKey('cleo')
  await approve(id, first)
  t.equal((await approve(id, first)).status, 200, 'the same key says the same')
  t.equal((await client.held(id)).approval.decisions.length, 1)
  await approve(id, await makeAnew('cleo'))
  t.match((await client.held(id)).approval.decisions, [{ key: 'cleo', revoked: true }, { key: 'cleo', revoked: undefined }])
  await cancel(client, id)
})

t.test('a key that was made anew under the name of the one that submitted may not decide, and nobody approves what the earlier one submitted', async t => {
  const id = await hold('pay', await makeKey('agent', 'admin'))
  const agent = await makeAnew('agent', 'admin')
  t.match(await approve(id, agent), { status: 403, text: /submitted/ })
  t.match(await approve(id, await makeKey('dora')), { status: 409, text: /'agent'.* anew/ })
  const { approval: { digest } } = await client.held(id)
  t.equal((await client.request(`/v1/approvals/${id}`, { body: { decision: 'deny', digest }, key: agent })).status, 403)
  await cancel(client, id)
})

t.test('a call that was approved does not run when its key is made anew before', async t => {
  const id = await hold('pay', await makeKey('late', 'admin'))
  await client.request('/v1/queues/default', { method: 'PATCH', body: { paused: true } })
  t.equal((await approve(id, await makeKey('eve'))).status, 200)
  await makeAnew('late', 'admin')
  await client.request('/v1/queues/default', { method: 'PATCH', body: { paused: false } })
  t.match(await reach(client, id, 'held'), { approval: { state: 'held', changed: /its key changed/ } })
  await cancel(client, id)
})

t.test('an operator who may make keys may decide anyway, and for two: the audit says who made the keys', async t => {
  const submitted = await makeKey('loop', 'admin', { tenant: 'one' })
  const id = await hold('twice', submitted)
  t.equal((await client.request('/v1/keys', { body: { name: 'mine', role: 'approver' }, key: submitted })).status, 403, 'a key of a tenant makes none')
  t.match(await approve(id, await makeKey('mine1')), { status: 200, body: { approval: { status: 'held' } } })
  t.match(await approve(id, await makeKey('mine2')), { status: 200, body: { approval: { approval: { state: 'approved' } } } })
  await reach(client, id, 'succeeded')
  const { body: { changes } } = await client.request<ChangeList>('/v1/audit?limit=100')
  for (const name of ['mine1', 'mine2']) {
    t.ok(changes.some(({ action, target }) => action === 'key.make' && target === name), name)
    t.ok(changes.some(({ action, key, target }) => action === 'approval.decide' && key === name && target === id), name)
  }
})

t.test('a key whose name a rule has may decide, also when it was made anew: a rule names people, not keys', async t => {
  const id = await hold('named')
  const boss = await makeKey('boss')
  t.equal((await approve(id, await makeKey('frank'))).status, 403)
  const anew = await makeAnew('boss')
  t.equal((await approve(id, boss)).status, 401)
  t.equal((await approve(id, anew)).status, 200)
  await reach(client, id, 'succeeded')
})

t.test('what a key of the settings has approved no longer counts when it may not decide about the call any more, until it says so again', async t => {
  const settings = (name: string, ann: object): ReturnType<typeof makeKeys<'agent' | 'ann' | 'bea'>> => makeKeys({
    agent: { name: `${name}-agent`, tenant: 'one' }, ann: { name: `${name}-ann`, role: 'approver', ...ann }, bea: { name: `${name}-bea`, role: 'approver' }
  })
  const clientOf = async ({ API_KEYS_JSON, keys }: ReturnType<typeof settings>): Promise<Client> => (
    createClient(inject(await openTestApi(t, { ...service.env, API_KEYS_JSON, ...limits })), keys.admin)
  )
  const limits = { LOG_LEVEL: 'silent' }
  const lowered = { role: { role: 'read' }, tenant: { tenant: 'two' }, queues: { queue_allowlist: ['other'] }, permissions: { permissions: [] } }
  for (const [name, change] of Object.entries({ ...lowered, nothing: {} })) {
    const { keys, ...before } = settings(name, {})
    const first = await clientOf({ keys, ...before })
    const id = (await first.call('twice', {}, {}, keys.agent)).job_id ?? ''
    t.match(await first.decide(await first.held(id), 'approve', { key: keys.ann }), { status: 200, body: { approval: { status: 'held' } } }, name)
    const then = await clientOf(settings(name, change))
    const state = name === 'nothing' ? 'approved' : 'held'
    t.match(await then.decide(await then.held(id), 'approve', { key: keys.bea }), { status: 200, body: { approval: { approval: { state } } } }, name)
    if (state === 'approved') continue
    const again = await clientOf({ keys, ...before })
    t.match(await again.decide(await again.held(id), 'approve', { key: keys.ann }), { status: 200, body: { approval: { approval: { state: 'approved' } } } }, `${name}, and back`)
  }
})
