import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

const { client } = await injectService(t, { files: programs, tools: entries, workers: 0 })
const long = 'x'.repeat(200_000)
const short = 'y'.repeat(9_000)
const id = '01890a5d-ac96-774b-bcce-b302099a8057'
const batch = '/v1/agent-tools/invoke-batch'
const calls = [{ call_id: 'a', name: 'echo' }]

/** Each place where a request holds a text that no bound of its own keeps short. */
const requests: ReadonlyArray<readonly [method: string, path: string, body?: unknown]> = [
  ['POST', batch, { calls: [{ call_id: 'a', name: long }] }],
  ['POST', batch, { calls: [{ call_id: 'a', name: 'echo', [long]: 1 }] }],
  ['POST', batch, { calls: [{ call_id: 'a', name: 'echo_strict', arguments: { [long]: 1 } }] }],
  ['POST', batch, { calls: [{ call_id: 'a', name: 'data_file_read', arguments: { path: 1, [long]: 1 } }] }],
  ['POST', batch, { calls: [{ call_id: long, name: 'echo' }] }],
  ['POST', batch, { calls, [long]: 1 }], ['POST', batch, { calls, mode: long }], ['POST', batch, { calls, queue: long }], ['POST', batch, { calls, session: long }],
  ['POST', batch, { calls, wait_ms: long }],
  ['POST', batch, { tool_calls: [{ id: 'a', type: 'function', function: { name: long, arguments: '{}' } }] }],
  ['POST', batch, { tool_calls: [{ id: 'a', type: 'function', function: { name: 'echo', arguments: long } }] }],
  ['POST', batch, { tool_calls: [{ id: 'a', type: long }] }], ['POST', batch, { tool_calls: [{ id: long, type: 'custom', custom: { name: long, input: '' } }] }],
  ['POST', batch, { content: [{ type: 'tool_use', id: 'a', name: long, input: {} }] }],
  ['POST', batch, { content: [{ type: 'tool_use', id: 'a', name: 'echo_strict', input: { [long]: 1 } }] }],
  ['POST', batch, { output: [{ type: 'function_call', call_id: 'a', name: long, arguments: '{}' }] }],
  ['POST', batch, { output: [{ type: 'function_call', call_id: 'a', name: 'echo', namespace: long, arguments: '{}' }] }],
  ['POST', batch, long],
  ['POST', '/v1/jobs', { type: long, input: {} }], ['POST', '/v1/jobs', { type: 'agentcli.echo_strict', input: { [long]: 1 } }],
  ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, [long]: 1 }], ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, queue: long }],
  ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, tags: [long] }], ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, session: long }],
  ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, depends_on: [long] }], ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, priority: long }],
  ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, callback_url: long }], ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' }, delay_ms: long }],
  ['POST', '/v1/tools/echo_strict', { [long]: 1 }], ['POST', `/v1/tools/${short}`, {}], ['POST', `/v1/tools/echo?${short}=1`, {}], ['POST', `/v1/tools/echo?queue=${short}`, {}],
  ['POST', `/v1/tools/echo?session=${short}`, {}], ['POST', `/v1/tools/echo?wait_ms=${short}`, {}], ['POST', `/v1/tools/echo?mode=${short}`, {}],
  ['GET', `/v1/agent-tools?pin=${short}`], ['GET', `/v1/agent-tools?format=${short}`], ['GET', `/v1/agent-tools?${short}=1`], ['GET', `/v1/agent-tools?namespace=${short}`], ['GET', `/v1/agent-tools?search=${short}&limit=${short}`],
  ['GET', `/v1/jobs?status=${short}`], ['GET', `/v1/jobs?cursor=${short}`], ['GET', `/v1/jobs?type=${short}`], ['GET', `/v1/jobs?queue=${short}`], ['GET', `/v1/jobs?${short}=1`], ['GET', `/v1/jobs?created_after=${short}`],
  ['GET', `/v1/jobs/${short}`], ['POST', `/v1/jobs/${short}/cancel`], ['GET', `/v1/jobs/${short}/logs`], ['GET', `/v1/jobs/${id}?${short}=1`], ['POST', `/v1/jobs/${id}/answer`, { [long]: 1 }],
  ['PATCH', `/v1/job-types/${short}`, { enabled: true }], ['PATCH', '/v1/job-types/data.file_read', { [long]: true }], ['PATCH', `/v1/queues/${short}`, { paused: true }], ['PATCH', '/v1/queues/own', { paused: long }],
  ['POST', '/v1/keys', { name: long, role: 'read' }], ['POST', '/v1/keys', { name: 'a', role: long }], ['POST', '/v1/keys', { name: 'a', role: 'read', tenant: long }], ['POST', '/v1/keys', { name: 'a', role: 'read', permissions: [long] }],
  ['POST', '/v1/keys', { name: 'a', role: 'read', queue_allowlist: [long] }], ['POST', '/v1/keys', { name: 'a', role: 'read', [long]: 1 }], ['DELETE', `/v1/keys/${short}`],
  ['POST', '/v1/auth/login', { key: long }], ['POST', '/v1/auth/login', { [long]: 1 }], ['POST', '/v1/auth/sse-token', { job_id: long }], ['POST', '/v1/auth/sse-token', { [long]: 1 }],
  ['POST', '/v1/sessions', { id: long }], ['POST', '/v1/sessions', { template: long }], ['POST', '/v1/sessions', { [long]: 1 }], ['POST', '/v1/sessions', { ttl_sec: long }], ['GET', `/v1/sessions/${short}`], ['DELETE', `/v1/sessions/${short}`],
  ['GET', `/v1/files/${short}`], ['GET', `/v1/files?${short}=1`], ['PUT', `/v1/files/${short}`, {}], ['GET', `/v1/files/a?archive=${short}`],
  ['POST', '/v1/bulk', { action: long, filter: {} }], ['POST', '/v1/bulk', { action: 'cancel', filter: { status: long } }], ['POST', '/v1/bulk', { action: 'cancel', filter: { [long]: 1 } }], ['POST', '/v1/bulk', { action: 'cancel', filter: { queue: long } }],
  ['GET', `/v1/bulk/${short}`], ['GET', `/v1/workers/${short}`], ['POST', `/v1/workers/${short}/drain`], ['GET', `/v1/stats?by=${short}`], ['GET', `/v1/stats?from=${short}`],
  ['GET', `/v1/registry/${short}`], ['GET', `/v1/skills/${short}`], ['GET', `/v1/skills?names=${short}`], ['GET', `/v1/approvals/${short}`], ['POST', `/v1/approvals/${id}/decide`, { decision: long }], ['POST', `/v1/approvals/${id}`, { [long]: 1 }],
  ['PUT', `/v1/secrets/${short}`, { value: 'x' }], ['PUT', '/v1/secrets/A', { value: 'x', scope: long }], ['PUT', '/v1/secrets/A', { [long]: 1 }],
  ['GET', `/${short}`]
]

t.test('no answer repeats more than the beginning of a text that came with its request', async t => {
  for (const [method, path, body] of requests) {
    const { body: answer } = await client.request<object>(path, { method, key: testKeys.admin, ...(body === undefined ? {} : { body }) })
    const place = `${method} ${path.slice(0, 60)} ${JSON.stringify(body ?? null).replace(/x{9,}/, 'X').slice(0, 90)}`
    t.ok(JSON.stringify(answer).length < 4_000, place)
  }
})

t.test('no answer has half of a character where it cuts a text', async t => {
  // Cut at an even number of units, a text of these ends in a half. A query holds less than a body.
  const [inBody, inPath] = [2_000, 500].map(count => `x${'😀'.repeat(count)}`)
  for (const [method, path, body] of requests) {
    const address = path.replaceAll(short, encodeURIComponent(inPath ?? ''))
    const given = body === undefined ? {} : { body: JSON.parse(JSON.stringify(body).replaceAll(long, inBody ?? '')) as unknown }
    const answer = await client.request<object>(address, { method, key: testKeys.admin, ...given })
    t.notMatch(writtenTexts(answer.body), /[\ud800-\udfff]/u, `${method} ${path.slice(0, 60)} ${JSON.stringify(body ?? null).slice(0, 90)}`)
  }
})

function writtenTexts (value: unknown): string {
  if (typeof value === 'string') return `${value}\n`
  return typeof value === 'object' && value !== null ? Object.entries(value).map(([name, item]) => `${name}\n${writtenTexts(item)}`).join('') : ''
}
