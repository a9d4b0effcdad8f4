import type { ApprovalDetail, JobView } from '@toolyard/contract'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { reach } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { rawSession } from './asked-clients.ts'
import { connect, meta, rpc, textAt } from './clients.ts'

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' } })
const mcpUrl = 'https://tools.example.com/toolyard/mcp'
const service = await createService(t, {
  files: { 'tools/bin/pay': '#!/bin/sh\ncat > /dev/null\necho \'{"paid": true}\'\n' },
  tools: [{ name: 'pay', schema: { type: 'object' }, command: ['./tools/bin/pay'], approval: 'required' }],
  env: { API_KEYS_JSON }
})
const { client: http, api, startApi } = service
const key = testKeys.admin
const pages = { elicitation: { url: {} } }
const capable = (capabilities: object): object => ({ ...meta, 'io.modelcontextprotocol/clientCapabilities': capabilities })

async function ask (method: string, params: Record<string, unknown>, capabilities: object = pages): Promise<Record<string, unknown>> {
  const { body } = await rpc(api.address, method, params, { key, meta: capable(capabilities) as Record<string, unknown> })
  return body.result ?? {}
}

const pay = async (rest: object = {}, capabilities: object = pages): Promise<Record<string, unknown>> => (
  await ask('tools/call', { name: 'pay', arguments: {}, ...rest }, capabilities)
)

async function newest (): Promise<ApprovalDetail> {
  const { body } = await http.request<{ approvals: Array<{ job_id: string }> }>('/v1/approvals', { key: keys.approver })
  return await http.held(body.approvals[0]?.job_id ?? '')
}

async function decide (id: string, decision: 'approve' | 'deny'): Promise<void> {
  const { status } = await http.decide(await http.held(id), decision, { key: keys.approver })
  if (status !== 200) throw new Error(`The decision was not taken: ${status}`)
}

const isUndecided = { approval: { state: 'held', decisions: { length: 0 } } }
const heldText = { isError: true, content: [{ text: /has not run.*waits until somebody approves it/ }], _meta: { 'toolyard/error': { code: 'HELD' } } }

t.test('a client of 2026 opens the page of a held call, which approves nothing; it gets the result once another key has approved it', async t => {
  const asked = await pay()
  const { job_id: id } = await newest()
  t.match(asked, {
    resultType: 'input_required',
    inputRequests: { approval: { method: 'elicitation/create', params: { mode: 'url', url: `${api.address}/#/approvals/${id}`, message: /approved/ } } }
  })
  const going = pay({ requestState: asked['requestState'], inputResponses: { approval: { action: 'accept', content: { approve: true } } } })
  await Promise.race([going, waitFor('it is still held after a while', async () => (await http.request('/v1/jobs?status=held')).text.includes(id))])
  t.match(await http.held(id), isUndecided)
  await decide(id, 'approve')
  t.match(await going, { structuredContent: { paid: true } })
  t.match((await http.request<{ job: JobView }>(`/v1/jobs/${id}`)).body.job, { attempts: 1, approval: { decisions: [{ key: 'approver' }] } })
})

t.test('a client of 2026 that declines or cancels gets the text, and has denied nothing', async t => {
  for (const action of ['decline', 'cancel']) {
    const asked = await pay()
    const { job_id: id } = await newest()
    t.match(await pay({ requestState: asked['requestState'], inputResponses: { approval: { action } } }), heldText, action)
    t.match(await http.held(id), isUndecided, action)
    await decide(id, 'deny')
    t.match(await pay({ requestState: asked['requestState'] }), { isError: true, _meta: { 'toolyard/error': { code: 'APPROVAL_DENIED' } } })
  }
})

t.test('a client without the capability gets a text, in both eras', async t => {
  for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
    t.match(await pay({}, capabilities), heldText)
    const { client } = await connect(t, api.address, key, '2025-11-25', { capabilities })
    t.match(await client.callTool({ name: 'pay', arguments: {} }), heldText)
  }
})

t.test('a task is input_required while its call is held; what its client says decides nothing', async t => {
  const known = { ...pages, extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const created = await pay({}, known)
  const { job_id: id } = await newest()
  t.match(created, { resultType: 'task', taskId: id, status: 'input_required' })
  const task = await ask('tasks/get', { taskId: id }, known)
  t.match(task, { status: 'input_required', statusMessage: /approved/ })
  const [[name, request] = ['']] = Object.entries(task['inputRequests'] as object)
  t.match(request, { params: { mode: 'url', url: `${api.address}/#/approvals/${id}` } })
  for (const action of ['accept', 'decline', 'cancel']) {
    t.match(await ask('tasks/update', { taskId: id, inputResponses: { [name]: { action, content: {} } } }, known), { resultType: 'complete' })
    t.match(await http.held(id), isUndecided, action)
  }
  await decide(id, 'approve')
  await reach(http, id, 'succeeded')
  t.match(await ask('tasks/get', { taskId: id }, known), { status: 'completed', result: { structuredContent: { paid: true } } })
  const textOnly = { extensions: known.extensions }
  t.match(await pay({}, textOnly), { resultType: 'task', status: 'working' })
})

t.test('a client of 2025 is asked to open the page while its call is open, and hears when somebody has decided', async t => {
  const { client } = await connect(t, api.address, key, '2025-11-25', { capabilities: pages })
  const opened: Array<Record<string, unknown>> = []
  const completed: unknown[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    opened.push(params)
    return { action: 'accept' as const }
  })
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => { completed.push(params.elicitationId) })
  const going = client.callTool({ name: 'pay', arguments: {} })
  await waitFor('it is asked', () => opened[0])
  const { job_id: id } = await newest()
  t.match(opened, [{ mode: 'url', url: `${api.address}/#/approvals/${id}`, elicitationId: /^ask-/ }])
  t.match(await http.held(id), isUndecided)
  await decide(id, 'approve')
  t.match(await going, { structuredContent: { paid: true } })
  t.same(completed, [opened[0]?.['elicitationId']])
})

t.test('a client of 2025 that declines, cancels or can not open it after all gets the text, and has denied nothing', async t => {
  for (const action of ['decline', 'cancel', undefined] as const) {
    const { client } = await connect(t, api.address, key, '2025-11-25', { capabilities: pages })
    client.setRequestHandler('elicitation/create', async () => {
      if (action === undefined) throw new Error('There is no browser')
      return { action }
    })
    const result = await client.callTool({ name: 'pay', arguments: {} })
    t.match(result, heldText)
    t.match(textAt(result), /job_result/)
    t.match(await http.held(String((result._meta ?? {})['toolyard/job_id'])), isUndecided)
  }
})

t.test('a call that is decided before the client of 2025 has answered goes on, and the question is taken back', async t => {
  const session = await rawSession(api.address, key, pages)
  const call = await session.call(api.address, 'pay')
  const { id, params } = await call.next()
  await decide(String(params?.['url']).split('/').at(-1) ?? '', 'approve')
  t.match(await call.next(), { method: 'notifications/cancelled', params: { requestId: id } })
  t.match(await call.next(), { id: 'call', result: { structuredContent: { paid: true } } })
})

t.test('a client that is tired of waiting leaves a held call held', async t => {
  const session = await rawSession(api.address, key, pages)
  const call = await session.call(api.address, 'pay')
  const { id, params } = await call.next()
  await session.say(api.address, { id, result: { action: 'accept' } })
  await session.say(api.address, { method: 'notifications/cancelled', params: { requestId: 'call' } })
  await t.rejects(call.next(), 'its answer is closed')
  t.match(await http.held(String(params?.['url']).split('/').at(-1) ?? ''), isUndecided)
})

t.test('the page is below the address that the operator has named; where none is known, there is a text', async t => {
  const named = await startApi({ MCP_AUTH_RESOURCE: mcpUrl })
  const request = { name: 'pay', arguments: {} }
  const options = { key, meta: capable(pages) as Record<string, unknown> }
  const { body } = await rpc(named.address, 'tools/call', request, options)
  t.match(body.result, { inputRequests: { approval: { params: { url: /^https:\/\/tools\.example\.com\/toolyard\/#\/approvals\/[0-9a-f-]{36}$/ } } } })
  // `fetch` sends no other Host.
  const headers = {
    host: 'tools.example.com',
    'x-api-key': key,
    'content-type': 'application/json',
    accept: 'application/json',
    'mcp-protocol-version': meta['io.modelcontextprotocol/protocolVersion'],
    'mcp-method': 'tools/call',
    'mcp-name': 'pay'
  }
  const sent = httpRequest(`${api.address}/mcp`, { method: 'POST', headers })
  sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...request, _meta: options.meta } }))
  const [response] = await once(sent, 'response') as [AsyncIterable<Buffer>]
  t.match((await json(response) as { result: unknown }).result, heldText)
})
