import type { ApprovalDetail } from '@toolyard/contract'
import { jobKey } from '@toolyard/store'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { callbackEnv, startReceiver } from '../callbacks/receiver.ts'
import type { Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { cancel, list, post, reach } from './submission.ts'

/* What changes while a call is held, and words that come at the same moment. */

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' }, second: { role: 'approver' } })
const entry = (name: string, rest: object = {}): object => ({
  name,
  schema: { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] },
  command: ['./tools/bin/pay'],
  permissions: ['write_files'],
  approval: 'required',
  ...rest
})
const pay = '#!/bin/sh\ncat >> paid\necho >> paid\n'
const receiver = await startReceiver(t)
const service = await createService(t, {
  files: { 'tools/bin/pay': pay, 'tools/bin/replaced': pay },
  tools: [entry('pay'), entry('replaced', { command: ['./tools/bin/replaced'] }), entry('edited'), entry('removed'), entry('other', { approval: { approvers: 2 } })],
  env: {
    ...callbackEnv,
    APPROVAL_CALLBACK_URL: receiver.url,
    API_KEYS_JSON
  }
})
const { client } = service
const redis = await connectTo(t, service.redis)
let marks = 0

async function hold (tool = 'pay', { key = testKeys.admin, session }: { key?: string, session?: string } = {}): Promise<ApprovalDetail & { mark: string }> {
  const mark = `mark-${++marks}-`
  const { job_id: id = '' } = await client.call(tool, { mark }, { session }, key)
  return { ...await client.held(id), mark }
}

const decide: Client['decide'] = async (held, decision, rest) => await client.decide(held, decision, { key: keys.approver, ...rest })

async function heldAgain (id: string): Promise<ApprovalDetail> {
  return await waitFor('it is held again', async () => {
    const now = await client.held(id)
    return now.approval.changed !== null && now
  })
}

const runs = (mark: string): number => {
  try {
    return readFileSync(join(service.dir, 'workspace/paid'), 'utf8').split(mark).length - 1
  } catch {
    return 0
  }
}

async function addKey (name: string, rest: object = {}): Promise<string> {
  const { body } = await client.request<{ key: { key: string } }>('/v1/keys', { body: { name, role: 'admin', ...rest } })
  return body.key.key
}

t.test('a call whose arguments are not those that were approved is held again', async t => {
  const held = await hold()
  const key = jobKey('default', held.job_id)
  const data = await redis.hget(key, 'data') ?? ''
  await redis.hset(key, 'data', data.replaceAll(held.mark, 'mark-forged-'))
  t.equal((await decide(held, 'approve')).status, 200)
  const again = await heldAgain(held.job_id)
  t.match(again, { arguments: { mark: 'mark-forged-' }, approval: { state: 'held', changed: /the call itself changed/ } })
  t.equal(runs('mark-forged-') + runs(held.mark), 0)
  await cancel(client, held.job_id)
})

t.test('a call whose tool got another entry while it was held is held again', async t => {
  const held = await hold('edited')
  const text = readFileSync(join(service.dir, 'tools.json'), 'utf8')
  await writeFile(join(service.dir, 'tools.json'), text.replace('"name":"edited"', '"name":"edited","description":"Does something else."'))
  await waitFor('the new entry is served', async () => (await client.request('/v1/agent-tools')).text.includes('something else'))
  const before = await client.held(held.job_id)
  t.equal(before.approval.digest, held.approval.digest)
  t.equal((await decide(held, 'approve')).status, 200)
  // The worker may read its manifest a moment later than the API.
  const again = await waitFor('it is held again, or ran as it was', async () => {
    const now = await client.held(held.job_id)
    return (now.approval.changed !== null || now.status === 'succeeded') && now
  })
  if (again.status === 'succeeded') return
  t.match(again.approval, { state: 'held', changed: /entry in its manifest changed/ })
  t.equal((await decide(again, 'approve')).status, 200)
  await reach(client, held.job_id, 'succeeded')
  t.equal(runs(held.mark), 1)
})

t.test('who decides about a call whose program changed is shown the program that would run, also when it changed back', async t => {
  const held = await hold('replaced')
  const path = join(service.dir, 'tools/bin/replaced')
  const was = readFileSync(path, 'utf8')
  await writeFile(path, `${was}# Another version.\n`)
  t.equal((await decide(held, 'approve')).status, 200)
  const again = await heldAgain(held.job_id)
  t.match(again.approval, { state: 'held', changed: /program changed/ })
  t.not(again.program_sha256, held.program_sha256)
  const other = await hold('replaced')
  t.equal(again.program_sha256, other.program_sha256, 'that of a call which is submitted now')
  await cancel(client, other.job_id)
  await writeFile(path, was)
  t.equal((await decide(again, 'approve')).status, 200)
  const back = await waitFor('it is held once more', async () => {
    const now = await client.held(held.job_id)
    return now.approval.digest !== again.approval.digest && now
  })
  t.match(back, { program_sha256: held.program_sha256, approval: { state: 'held', digest: held.approval.digest, changed: 'it is again as it was when the call was submitted' } })
  t.equal((await decide(back, 'approve')).status, 200)
  await reach(client, held.job_id, 'succeeded')
  t.equal(runs(held.mark), 1)
})

t.test('a call whose tool was removed while it was held does not run, whatever was decided', async t => {
  const [approved, denied] = [await hold('removed'), await hold('removed')]
  const { tools } = JSON.parse(readFileSync(join(service.dir, 'tools.json'), 'utf8')) as { tools: Array<{ name: string }> }
  await writeFile(join(service.dir, 'tools.json'), JSON.stringify({ tools: [...tools.filter(({ name }) => name !== 'removed'), { name: 'new', schema: { type: 'object' }, command: ['/bin/cat'] }] }))
  await waitFor('it is served no more', async () => !(await client.request('/v1/agent-tools')).text.includes('"removed"'))
  t.match(await client.call('new'), { ok: true }, 'the worker has read the manifest too')
  t.match(await client.held(approved.job_id), { tool: 'removed', arguments: { mark: approved.mark }, approval: { state: 'held' } })
  t.equal((await decide(approved, 'approve')).status, 200)
  t.equal((await decide(denied, 'deny')).status, 200)
  t.match(await reach(client, approved.job_id, 'failed', 'succeeded'), { status: 'failed', error: { code: 'UNKNOWN_TOOL' } })
  t.match(await reach(client, denied.job_id, 'failed'), { error: { code: 'APPROVAL_DENIED' } })
  t.equal(runs(approved.mark), 0)
})

t.test('a call whose key was revoked, or may do something else by now, can be denied and not approved', async t => {
  const [revoked, changed] = [await hold('pay', { key: await addKey('revoked') }), await hold('pay', { key: await addKey('changed') })]
  for (const name of ['revoked', 'changed']) await client.request(`/v1/keys/${name}`, { method: 'DELETE' })
  await addKey('changed', { permissions: ['read_repo'] })
  t.match(await waitFor('the key is known to be gone', async () => {
    const answer = await decide(revoked, 'approve')
    return answer.status !== 200 && answer
  }), { status: 409, text: /'revoked'.*is not there any more/ })
  t.match(await decide(changed, 'approve'), { status: 409, text: /made anew, or may do something else.*another release.*let it be submitted again/ })
  t.equal((await decide(revoked, 'deny')).status, 200)
  t.equal((await decide(changed, 'deny')).status, 200)
  t.equal(runs(revoked.mark) + runs(changed.mark), 0)
})

t.test('a call whose key may do something else when it is to run, after it was approved, is held again', async t => {
  const held = await hold('pay', { key: await addKey('late') })
  await client.request('/v1/queues/default', { method: 'PATCH', body: { paused: true } })
  t.equal((await decide(held, 'approve')).status, 200)
  await client.request('/v1/keys/late', { method: 'DELETE' })
  await addKey('late', { permissions: ['read_repo'] })
  await client.request('/v1/queues/default', { method: 'PATCH', body: { paused: false } })
  t.match((await heldAgain(held.job_id)).approval, { state: 'held', changed: /its key changed/ })
  t.equal(runs(held.mark), 0)
  await cancel(client, held.job_id)
})

t.test('an approval of a call is none for the same call of another key or session', async t => {
  const sessions = [await client.session(), await client.session()]
  const first = await hold()
  const before = marks - 1
  for (const whose of [{ key: await addKey('twin') }, ...sessions.map(session => ({ session }))]) {
    marks = before
    const held = await hold('pay', whose)
    t.same(held.arguments, first.arguments)
    t.match(await decide(held, 'approve', { digest: first.approval.digest }), { status: 409, text: /look at it again/ })
    await cancel(client, held.job_id)
  }
  t.equal(runs(first.mark), 0)
  await cancel(client, first.job_id)
})

t.test('a call of a session that is gone when it is approved fails, and runs in no other', async t => {
  const { body: { session } } = await client.request<{ session: { id: string } }>('/v1/sessions', { body: {} })
  const held = await hold('pay', { session: session.id })
  t.ok([200, 202].includes((await client.request(`/v1/sessions/${session.id}`, { method: 'DELETE' })).status))
  const { status } = await decide(held, 'approve')
  const job = await reach(client, held.job_id, 'failed', 'cancelled', 'succeeded')
  t.match({ status, state: job.status }, { state: /failed|cancelled/ })
  t.equal(runs(held.mark), 0)
})

t.test('an approval and a denial at the same moment: one of them counts', async t => {
  for (let round = 0; round < 5; round++) {
    const held = await hold()
    const [approval, denial] = await Promise.all([decide(held, 'approve'), decide(held, 'deny', { key: keys.second })])
    t.same([approval.status, denial.status].sort(), [200, 409])
    const job = await reach(client, held.job_id, 'succeeded', 'failed')
    t.equal(job.status, approval.status === 200 ? 'succeeded' : 'failed')
    t.equal(runs(held.mark), approval.status === 200 ? 1 : 0)
  }
})

t.test('an approval and a cancel at the same moment: the call runs at most once, and its state says what became of it', async t => {
  for (let round = 0; round < 5; round++) {
    const held = await hold()
    const [approval, cancelled] = await Promise.all([decide(held, 'approve'), cancel(client, held.job_id)])
    t.ok([200, 409].includes(approval.status), approval.text)
    const job = await reach(client, held.job_id, 'succeeded', 'cancelled')
    t.equal(job.status, cancelled.status === 200 ? 'cancelled' : 'succeeded')
    t.ok(runs(held.mark) <= 1)
    if (approval.status === 409) t.equal(runs(held.mark), 0)
  }
})

t.test('one key that approves and then denies where two must approve has denied', async t => {
  const held = await hold('other')
  t.equal((await decide(held, 'approve')).status, 200)
  t.equal((await decide(held, 'deny')).status, 200)
  t.match(await decide(held, 'approve', { key: keys.second }), { status: 409, text: /decided before/ })
  t.match(await reach(client, held.job_id, 'failed'), { error: { code: 'APPROVAL_DENIED' } })
})

t.test('a repeated request with its Idempotency-Key finds the held job, also after it has run', async t => {
  const body = { type: 'agentcli.pay', input: { mark: 'repeated-' } }
  const withKey = { headers: { 'idempotency-key': 'pay-once' } }
  const first = await post(client, body, withKey)
  const again = await post(client, body, withKey)
  t.match(again, { status: 200, body: { job: { id: first.body.job.id, status: 'held' } } })
  t.equal((await list(client, '?tool=pay&status=held')).jobs.filter(({ id }) => id === first.body.job.id).length, 1)
  t.equal((await post(client, { ...body, input: { mark: 'another-' } }, withKey)).status, 409)
  t.equal((await decide(await client.held(first.body.job.id), 'approve')).status, 200)
  await reach(client, first.body.job.id, 'succeeded')
  t.match(await post(client, body, withKey), { status: 200, body: { job: { status: 'succeeded' } } })
  t.equal(runs('repeated-'), 1)
  t.equal(runs('another-'), 0)
})

t.test('a denied call that an operator runs again is held again, and needs a word anew', async t => {
  const held = await hold()
  t.equal((await decide(held, 'deny')).status, 200)
  await reach(client, held.job_id, 'failed')
  t.equal((await client.request('/v1/bulk', { body: { action: 'run_again', filter: { text: held.mark } } })).status, 202)
  await waitFor('it is held again', async () => (await list(client, '?status=held')).jobs.some(({ id }) => id === held.job_id))
  const { approval } = await client.held(held.job_id)
  t.match(approval, { state: 'held', decisions: { length: 0 } })
  await waitFor('approvers are told again', () => receiver.received.some(({ text }) => (
    text.includes(held.job_id) && text.includes('approval.requested') && text.includes(approval.held_at)
  )))
  t.equal(runs(held.mark), 0)
  t.equal((await decide(await client.held(held.job_id), 'approve')).status, 200)
  await reach(client, held.job_id, 'succeeded')
  t.equal(runs(held.mark), 1)
})
