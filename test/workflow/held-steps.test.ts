import type { ApprovalDetail, ApprovalItem } from '@toolyard/contract'
import { alarmsKey } from '@toolyard/store'
import t from 'tap'
import { reach, read, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' } })
const { client, redis: server } = await createService(t, {
  files: {
    'tools/bin/pay': '#!/bin/sh\necho "$(cat)" >> paid\n',
    'workspace/workflows.yaml': 'workflows: {pays: {steps: [{name: it, tool: pay, arguments: {amount: 8765}}]}}'
  },
  tools: [{ name: 'pay', command: ['./tools/bin/pay'], permissions: ['write_files'], approval: 'required' }],
  env: { API_KEYS_JSON }
})

/** Runs the workflow until its step is held. */
async function run (timeoutSec = 60): Promise<{ workflow: string, step: ApprovalDetail }> {
  const { id } = await submit(client, { type: 'workflow.run', input: { workflow: 'pays' }, timeout_sec: timeoutSec })
  const { job_id: step } = await waitFor('the step is held', async () => {
    const { body } = await client.request<{ approvals: ApprovalItem[] }>('/v1/approvals')
    return body.approvals.find(({ parent_id: parent }) => parent === id)
  })
  return { workflow: id, step: await client.held(step) }
}

async function decide (step: ApprovalDetail, decision: string, key = keys.approver): Promise<number> {
  return (await client.decide(step, decision, { key })).status
}

async function paid (): Promise<number> {
  const { output = '' } = await client.call('data_file_read', { path: 'paid' })
  return JSON.stringify(output).split('8765').length - 1
}

t.test('a step of a workflow is held as a call is: approved it runs once, denied it fails its workflow', async t => {
  const [approved, denied] = [await run(), await run()]
  t.equal(await paid(), 0)
  t.equal(await decide(approved.step, 'approve', testKeys.admin), 403, 'its own key')
  t.equal(await decide(approved.step, 'approve'), 200)
  await reach(client, approved.workflow, 'succeeded')
  t.equal(await decide(denied.step, 'deny'), 200)
  await reach(client, denied.workflow, 'failed')
  t.equal(await paid(), 1)
})

t.test('the time of a workflow stands still while a step is held, and goes on with the decision', async t => {
  const begun = Date.now()
  const held = await run(1)
  await waitFor('its time would be over', () => Date.now() > begun + 2_500)
  t.notOk(['failed', 'succeeded'].includes((await read(client, held.workflow)).status))
  t.equal(await decide(held.step, 'approve'), 200)
  await reach(client, held.workflow, 'succeeded')
})

t.test('who cancels a workflow ends the hold of its step', async t => {
  const held = await run()
  t.equal((await client.request(`/v1/jobs/${held.workflow}/cancel`, { method: 'POST', body: {} })).status, 200)
  await reach(client, held.step.job_id, 'cancelled')
  t.equal(await decide(held.step, 'approve'), 409)
})

t.test('nothing is kept of when a workflow would have been woken, once it has ended', async t => {
  const redis = await connectTo(t, server)
  const [approved, denied, cancelled] = [await run(), await run(), await run()]
  // Their steps are held for a day.
  t.ok(await redis.zcard(alarmsKey('default')) >= 3)
  await decide(approved.step, 'approve')
  await decide(denied.step, 'deny')
  await client.request(`/v1/jobs/${cancelled.workflow}/cancel`, { method: 'POST', body: {} })
  await reach(client, approved.workflow, 'succeeded')
  await reach(client, denied.workflow, 'failed')
  await reach(client, cancelled.workflow, 'cancelled')
  const ended = [approved, denied, cancelled].map(({ workflow }) => workflow)
  await waitFor('no alarm is left', async () => (await redis.zrange(alarmsKey('default'), '0', '-1')).every(id => !ended.includes(id)))
})
