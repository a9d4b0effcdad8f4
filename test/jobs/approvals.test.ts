import type { ApprovalDetail, ApprovalItem, InvokeBatchResponse, JobView } from '@toolyard/contract'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Toolyard } from '@toolyard/client'
import { callbackEnv, startReceiver, type Received } from '../callbacks/receiver.ts'
import type { Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { cancel, reach, submit } from './submission.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  read: {},
  approver: { role: 'approver' },
  second: { role: 'approver' },
  other: { tenant: 'other' },
  desk: { role: 'approver', queue_allowlist: ['desk'] }
})
const amount = { type: 'object', properties: { amount: { type: 'number' }, note: { type: 'string' } }, required: ['amount'] }
const program = '#!/bin/sh\necho "$(cat)" >> paid\ntail -n 1 paid\n'
const pay = { schema: amount, command: ['./tools/bin/pay'], permissions: ['write_files'] }
const receiver = await startReceiver(t)
const service = await createService(t, {
  files: { 'tools/bin/pay': program, 'policy.json': JSON.stringify([{ when: 'tool == "free" && has(args.note) && args.note == "never"', then: 'deny', reason: 'Never is not a note.' }]) },
  tools: [
    { name: 'pay', ...pay, policy: [{ when: 'args.amount > 500', then: 'hold', reason: 'Large payments are looked at.' }, { when: 'args.amount < 0', then: 'deny', reason: 'Amounts are positive.' }] },
    { name: 'always', ...pay, approval: 'required' },
    { name: 'twice', ...pay, approval: { approvers: 2 } },
    { name: 'own', ...pay, approval: { self: true } },
    { name: 'named', ...pay, approval: { by: ['second'] } },
    { name: 'short', ...pay, approval: { expires_sec: 1 } },
    { name: 'free', ...pay }
  ],
  env: { ...callbackEnv, APPROVAL_CALLBACK_URL: `${receiver.url}/approvers`, POLICY_FILE: 'policy.json', API_KEYS_JSON }
})
const { client } = service

async function call (name: string, args: object, rest: Record<string, unknown> = {}): Promise<InvokeBatchResponse> {
  return await client.batch([{ call_id: 'c', name, arguments: args }], rest)
}

async function hold (name: string, args: object = { amount: 900 }): Promise<ApprovalDetail> {
  const { results: [result] } = await call(name, args)
  return await show(result?.job_id ?? '')
}

const show = async (id: string, key: string = keys.approver): Promise<ApprovalDetail> => await client.held(id, key)
const decide: Client['decide'] = async (held, decision, rest) => await client.decide(held, decision, { key: keys.approver, ...rest })

t.test('a dry run says what would become of a call, and makes no job', async t => {
  const dry = async (name: string, args: object, query = ''): Promise<{ status: number, body: unknown }> => (
    await client.request(`/v1/tools/${name}?dry_run=true${query}`, { body: args })
  )
  const before = (await client.request('/v1/jobs')).text
  t.match(await dry('pay', { amount: 1 }), { status: 200, body: { ok: true, dry_run: true, tool: 'pay', would: 'run', arguments: { amount: 1 } } })
  t.match(await dry('pay', { amount: 700 }), {
    status: 200, body: { would: 'hold', hold: { reason: 'Large payments are looked at.', rule: 'args.amount > 500', approvers: 1, expires_sec: 86_400 } }
  })
  t.match(await dry('twice', { amount: 1 }), { body: { would: 'hold', hold: { reason: null, rule: null, approvers: 2 } } })
  t.match(await dry('call_tool', { name: 'pay', arguments: { amount: 700 } }), { body: { tool: 'pay', would: 'hold', arguments: { amount: 700 } } })
  t.match(await dry('pay', { amount: -1 }), { status: 403, body: { ok: false, error: { code: 'POLICY_DENIED', message: 'Amounts are positive.' } } })
  t.match(await dry('pay', {}), { status: 400, body: { ok: false, error: { code: 'INVALID_ARGUMENTS' } } })
  t.match(await dry('pay', { amount: 1 }, '&session=missing'), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  t.match(await client.request('/v1/tools/pay?dry_run=perhaps', { body: { amount: 1 } }), { status: 400, body: { error: { message: "'dry_run' must be true or false" } } })
  t.equal((await client.request('/v1/jobs')).text, before)
})

t.test('a rule holds one call of a batch: its siblings run, it is approved by another key and runs once', async t => {
  const { body } = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', {
    body: { calls: [{ call_id: 'a', name: 'pay', arguments: { amount: 1 } }, { call_id: 'b', name: 'pay', arguments: { amount: 700 } }, { call_id: 'c', name: 'pay', arguments: { amount: -1 } }], conversation: 'trip' }
  })
  const [small, large, negative] = body.results
  t.match(small, { ok: true, output: { amount: 1 } })
  t.match(large, { ok: false, pending: true, error: { code: 'HELD', message: /Large payments/ } })
  t.match(negative, { ok: false, error: { code: 'POLICY_DENIED', message: 'Amounts are positive.' } })
  t.match(JSON.parse(body.tool_messages[1]?.content ?? ''), { pending: true, message: /has not run.*job_result/s })
  const held = await show(large?.job_id ?? '')
  t.match(held, { tool: 'pay', key: 'admin', conversation: 'trip', arguments: { amount: 700 }, approval: { state: 'held', rule: 'args.amount > 500', approvers: 1 } })
  const { body: job } = await client.request<{ job: JobView }>(`/v1/jobs/${held.job_id}`)
  t.equal(job.job.status, 'held')
  t.equal((await decide(held, 'approve')).status, 200)
  t.match(await reach(client, held.job_id, 'succeeded'), { result: { amount: 700 }, attempts: 1, approval: { state: 'approved', decisions: [{ key: 'approver', decision: 'approve' }] } })
  t.equal((await decide(held, 'approve')).status, 200, 'the same word again changes nothing')
  t.equal((await decide(held, 'deny')).status, 409)
  const { results: [later] } = await call('job_result', { job_id: held.job_id })
  t.match(later, { ok: true, output: { amount: 700 } })
  const next = await hold('pay')
  t.match(next.previous, { job_id: held.job_id, arguments: { amount: 700 } })
  await cancel(client, next.job_id)
})

t.test('a key that is bound to queues sees nothing of a call before that was approved in another queue', async t => {
  const earlier = await hold('own', { amount: 77 })
  t.equal((await decide(earlier, 'approve')).status, 200)
  const id = (await call('own', { amount: 78 }, { queue: 'desk' })).results[0]?.job_id ?? ''
  t.match((await show(id)).previous, { job_id: earlier.job_id })
  t.equal((await show(id, keys.desk)).previous, null)
  await cancel(client, id)
})

t.test('a held call says so in an async batch, to a model, and as a tool of its own', async t => {
  const message = { tool_calls: [{ id: 'a', type: 'function', function: { name: 'always', arguments: '{"amount":1}' } }] }
  const { body } = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: { ...message, mode: 'async' } })
  const [result] = body.results
  t.match(result, { ok: false, pending: true, error: { code: 'HELD' } })
  t.match(body.messages, [{ content: /has not run/ }])
  await cancel(client, result?.job_id ?? '')
  const alone = await client.request<{ job_id: string }>('/v1/tools/always', { body: { amount: 2 } })
  t.match(alone, { status: 202, body: { pending: true, held: true } })
  await cancel(client, alone.body.job_id)
})

t.test('approvers are told of a held call and of the decision, signed, and so is its callback_url', async t => {
  const held = await show((await client.call('always', { amount: 31 }, { callback_url: `${receiver.url}/own` })).job_id ?? '')
  const told = async (path: string, event: string): Promise<Received> => await waitFor(`${event} at ${path}`, () => (
    receiver.received.find(each => each.path === path && each.text.includes(held.job_id) && each.text.includes(event))
  ))
  const requested = await told('/approvers', 'approval.requested')
  t.match(requested.body, { event: 'approval.requested', tool: 'always', key: 'admin', arguments_preview: '{"amount":31}', approval: { state: 'held', digest: held.approval.digest } })
  t.match(requested.headers, { 'x-toolyard-signature': /^v1=[0-9a-f]{64}$/, 'x-toolyard-delivery': /approval\.requested/ })
  await told('/own', 'approval.requested')
  t.equal((await decide(held, 'deny', { reason: 'No.' })).status, 200)
  const decided = await told('/approvers', 'approval.decided')
  t.match(decided.body, { approval: { state: 'denied', decisions: [{ key: 'approver', decision: 'deny', reason: 'No.' }] } })
  await told('/own', 'approval.decided')
  await told('/own', 'APPROVAL_DENIED')
})

t.test('a denied call ends at once with the reason, and the tool does not run', async t => {
  const held = await hold('always')
  t.equal((await decide(held, 'deny', { reason: 'Ask the customer first.' })).status, 200)
  const job = await reach(client, held.job_id, 'failed')
  t.match(job, { error: { code: 'APPROVAL_DENIED', message: /Ask the customer first/ }, result: null, approval: { state: 'denied' } })
  const { results: [result] } = await call('job_result', { job_id: held.job_id })
  t.match(result, { ok: false, error: { code: 'APPROVAL_DENIED' } })
})

t.test('who submitted may not decide, nor a reader, another tenant or a key that is not named', async t => {
  const held = await hold('named')
  t.equal((await decide(held, 'approve', { key: testKeys.admin })).status, 403)
  t.equal((await decide(held, 'approve', { key: testKeys.read })).status, 403)
  t.equal((await decide(held, 'approve', { key: keys.other })).status, 404)
  t.equal((await decide(held, 'approve')).status, 403, 'the rule names another key')
  t.equal((await decide(held, 'approve', { key: keys.second })).status, 200)
  await reach(client, held.job_id, 'succeeded')
  const own = await hold('own')
  t.equal((await decide(own, 'approve', { key: testKeys.admin })).status, 200, 'where the rule says so')
})

t.test('two keys must approve where a rule wants two', async t => {
  const held = await hold('twice')
  t.equal((await decide(held, 'approve')).status, 200)
  t.equal((await decide(held, 'approve')).status, 200, 'the same key counts once')
  t.equal((await show(held.job_id)).status, 'held')
  t.equal((await decide(held, 'approve', { key: keys.second })).status, 200)
  t.match(await reach(client, held.job_id, 'succeeded'), { approval: { decisions: { length: 2 } } })
})

t.test('a decision about something else is refused', async t => {
  const held = await hold('always')
  t.match(await decide(held, 'approve', { digest: '0'.repeat(64) }), { status: 409, text: /look at it again/ })
  t.match(await decide(held, 'approve', { digest: 'x' }), { status: 400 })
  t.equal((await show(held.job_id)).approval.state, 'held')
  await cancel(client, held.job_id)
  t.match(await decide(held, 'approve'), { status: 409 })
})

t.test('a call that nobody decides about ends, and can not be approved any more', async t => {
  const held = await hold('short')
  t.match(await reach(client, held.job_id, 'failed'), { error: { code: 'APPROVAL_EXPIRED' }, attempts: 0 })
  t.match(await decide(held, 'approve'), { status: 409 })
})

t.test('a held call that was cancelled can not be approved any more, and does not run', async t => {
  const held = await hold('always')
  await cancel(client, held.job_id)
  t.match(await decide(held, 'approve'), { status: 409 })
  t.match((await client.request<{ job: JobView }>(`/v1/jobs/${held.job_id}`)).body.job, { status: 'cancelled', attempts: 0 })
})

t.test('a program that changed after the approval was asked for is held again, and says so', async t => {
  const held = await hold('always')
  await writeFile(join(service.dir, 'tools/bin/pay'), `${program}# changed\n`)
  t.equal((await decide(held, 'approve')).status, 200)
  const again = await waitFor('it is held again', async () => {
    const now = await show(held.job_id)
    return now.approval.changed === null ? undefined : now
  })
  t.match(again.approval, { state: 'held', changed: /the tool's program changed/ })
  t.not(again.approval.digest, held.approval.digest)
  t.match(await decide(held, 'approve'), { status: 409 }, 'what was shown before')
  t.equal((await decide(again, 'approve')).status, 200)
  await reach(client, held.job_id, 'succeeded')
})

t.test('two approvals at once run the call once', async t => {
  const held = await hold('always', { amount: 4321 })
  const answers = await Promise.all([keys.approver, keys.second, testKeys.admin].map(key => decide(held, 'approve', { key })))
  t.same(answers.map(({ status }) => status).sort(), [200, 403, 409])
  await reach(client, held.job_id, 'succeeded')
  const { results: [paid] } = await call('data_file_read', { path: 'paid' })
  t.equal(JSON.stringify(paid?.output).split('4321').length - 1, 1)
})

t.test('the client lists, shows, approves and denies held calls', async t => {
  const { approvals } = new Toolyard({ url: service.api.address, apiKey: keys.approver })
  const [held, other] = [await hold('always', { amount: 11 }), await hold('always', { amount: 12 })]
  const { approvals: listed } = await approvals.list({ tool: 'always' })
  t.same(listed.map(({ job_id: id }) => id).sort(), [held.job_id, other.job_id].sort())
  const shown = await approvals.get(held.job_id)
  t.same(shown.arguments, { amount: 11 })
  await t.rejects(approvals.approve(held.job_id, { digest: other.approval.digest }), { code: 'CONFLICT' })
  t.match(await approvals.approve(held.job_id, { digest: shown.approval.digest }), { approval: { state: 'approved' } })
  t.match(await approvals.deny(other.job_id, { digest: other.approval.digest, reason: 'Ask first.' }), { approval: { state: 'denied', decisions: [{ reason: 'Ask first.' }] } })
  await reach(client, held.job_id, 'succeeded')
})

t.test('held calls are listed, counted as held, not promoted, and removed from the list when they are cancelled', async t => {
  const { id } = await submit(client, { type: 'agentcli.always', input: { amount: 5 } })
  const { status, body } = await client.request<{ approvals: ApprovalItem[] }>('/v1/approvals?tool=always', { key: testKeys.read })
  t.equal(status, 200)
  t.match(body.approvals.find(each => each.job_id === id), { tool: 'always', arguments_preview: '{"amount":5}', approval: { state: 'held' } })
  t.match((await client.request('/v1/jobs?status=held')).body, { jobs: [{ id, status: 'held' }] })
  t.match((await client.request('/metrics')).text, /toolyard_queue_jobs\{queue="default",state="held"\} [1-9]/)
  t.equal((await client.request(`/v1/jobs/${id}/promote`, { method: 'POST' })).status, 409)
  await cancel(client, id)
  t.match((await client.request('/v1/approvals?tool=always')).body, { approvals: { length: 0 } })
})

t.test('the beginning of arguments that a list shows ends with a whole character', async t => {
  const begins = `{"amount":13,"note":"${'x'.repeat(478)}`
  await hold('always', { amount: 13, note: `${'x'.repeat(478)}😀` })
  const { body: { approvals } } = await client.request<{ approvals: ApprovalItem[] }>('/v1/approvals?tool=always')
  t.equal(approvals[0]?.arguments_preview, begins)
})

t.test('the policy file is asked for the calls of all tools', async t => {
  t.match((await call('free', { amount: 1, note: 'never' })).results, [{ error: { code: 'POLICY_DENIED', message: 'Never is not a note.' } }])
  t.match((await call('free', { amount: 1, note: 'sometimes' })).results, [{ ok: true }])
})
