import type { JobResponse } from '@toolyard/contract'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { entries, programs } from './tools.ts'

const files = { ...programs, 'workspace/test.txt': 'hello\n', 'workspace/notes/test-plan.md': 'plan\n' }
const service = await createService(t, { files, tools: entries })
const { client } = service

t.test('R13, R21, R36 a sync batch answers every call in request order, in the documented form', async t => {
  const body = await client.batch([
    { call_id: 'call-1', name: 'data_file_read', arguments: { path: 'test.txt' } },
    { call_id: 'call-2', name: 'nap', arguments: { ms: 300 } },
    { call_id: 'call-3', name: 'echo', arguments: { a: [1, 'two'] } },
    { call_id: 'call-4', name: 'no_such_tool' }
  ])
  t.same(Object.keys(body), ['ok', 'results', 'tool_messages', 'mode'])
  t.equal(body.mode, 'sync')
  t.same(body.results.map(result => result.call_id), ['call-1', 'call-2', 'call-3', 'call-4'])
  t.same(body.tool_messages.map(message => message.tool_call_id), ['call-1', 'call-2', 'call-3', 'call-4'])
  t.same(body.results.map(result => result.ok), [true, true, true, false])
})

t.test('R22, R23, R24 a success has output, and its message holds {ok, result} as a JSON text', async t => {
  const body = await client.batch([{ call_id: 'c', name: 'echo', arguments: { b: 1, a: 'x' } }])
  t.same(body.results, [{ call_id: 'c', name: 'echo', ok: true, output: { b: 1, a: 'x' }, job_id: body.results[0]?.job_id }])
  t.same(body.tool_messages, [{ role: 'tool', tool_call_id: 'c', name: 'echo', content: '{"ok":true,"result":{"b":1,"a":"x"}}' }])
})

t.test('each call that became a job has its job_id, whether it succeeded or failed; a call that became none has none', async t => {
  const { results: [good, bad, unknown, invalid] } = await client.batch([
    { call_id: 'a', name: 'echo' }, { call_id: 'b', name: 'fail', arguments: { stderr: 'no' } }, { call_id: 'c', name: 'fake_tool' }, { call_id: 'd', name: 'echo_strict' }
  ])
  for (const [result, status] of [[good, 'succeeded'], [bad, 'failed']] as const) {
    t.match((await client.request<JobResponse>(`/v1/jobs/${result?.job_id}`)).body.job, { id: result?.job_id, status })
  }
  t.same([unknown?.job_id, invalid?.job_id], [undefined, undefined])
})

t.test('X9, B21 falsy outputs are in the answer', async t => {
  for (const value of [0, false, '', null]) {
    const { results: [result], tool_messages: [message] } = await client.batch([{ call_id: 'c', name: 'value', arguments: { value } }])
    t.same(result, { call_id: 'c', name: 'value', ok: true, output: value, job_id: result?.job_id })
    t.equal(message?.content, JSON.stringify({ ok: true, result: value }))
  }
})

t.test('R25, R26, R37 a call that isn\'t done in time is pending, and its job id leads to the result', async t => {
  const body = await client.batch([{ call_id: 'c', name: 'nap', arguments: { ms: 1_000 } }], { wait_ms: 150 })
  const [result] = body.results
  const error = { code: 'TIMEOUT', message: 'Job did not complete within wait_ms' }
  t.match(result?.job_id, /^[0-9a-f-]{36}$/)
  t.same(result, { call_id: 'c', name: 'nap', ok: false, pending: true, job_id: result?.job_id, error })
  t.equal(body.tool_messages[0]?.content, JSON.stringify({
    ok: false,
    pending: true,
    job_id: result?.job_id,
    error,
    message: `Tool 'nap' goes on as job ${result?.job_id}; call job_result with this job_id to come back for its answer`
  }))
  await waitFor('the job has succeeded', async () => (
    await client.request<JobResponse>(`/v1/jobs/${result?.job_id}`)).body.job.status === 'succeeded'
  )
  const { body: { job } } = await client.request<JobResponse>(`/v1/jobs/${result?.job_id}`)
  t.same(job.result, { slept: 1_000 })
})

t.test('R27, R39, R40, R42 an async batch answers with job ids and types, and no messages', async t => {
  const body = await client.batch([
    { call_id: 'a', name: 'data_file_read', arguments: { path: 'test.txt' } },
    { call_id: 'b', name: 'nap', arguments: { ms: 10_000 } },
    { call_id: 'c', name: 'no_such_tool' }
  ], { mode: 'async' })
  t.equal(body.mode, 'async')
  t.same(body.tool_messages, [])
  const [read, nap, unknown] = body.results
  t.same(read, { call_id: 'a', name: 'data_file_read', ok: true, job_id: read?.job_id, job_type: 'data.file_read' })
  t.match(nap, { ok: true, job_type: 'agentcli.nap', job_id: String })
  t.match(unknown, { ok: false, error: { code: 'UNKNOWN_TOOL' } })
})

t.test('R41 a job of an async batch can be followed at /v1/jobs/:id', async t => {
  const { results: [result] } = await client.batch([{ call_id: 'a', name: 'echo', arguments: { x: 1 } }], { mode: 'async' })
  await waitFor('the job is done', async () => (
    await client.request<JobResponse>(`/v1/jobs/${result?.job_id}`)).body.job.status === 'succeeded'
  )
  const { body: { job } } = await client.request<JobResponse>(`/v1/jobs/${result?.job_id}`)
  t.match(job, { id: result?.job_id, type: 'agentcli.echo', queue: 'default', priority: 5, max_attempts: 1, attempts: 1, input: { x: 1 }, result: { x: 1 }, error: null })
  t.match(job.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

t.test('R28, R29 an unknown tool is an embedded error with its message, and the siblings are served', async t => {
  const body = await client.batch([{ call_id: 'u', name: 'fake_tool' }, { call_id: 'e', name: 'echo' }])
  const error = { code: 'UNKNOWN_TOOL', message: "Tool 'fake_tool' not found in registry" }
  t.same(body.results[0], { call_id: 'u', name: 'fake_tool', ok: false, error })
  t.equal(body.tool_messages[0]?.content, JSON.stringify({ ok: false, error }))
  t.same(body.results[1]?.output, {})
})

t.test('R32 a disabled tool is known, not listed, and answers with its job type', async t => {
  const result = await client.call('off')
  t.same(result, { call_id: 'c1', name: 'off', ok: false, error: { code: 'JOB_TYPE_DISABLED', message: "Job type 'agentcli.off' is disabled" } })
})

t.test('R45 call ids are echoed, also when two calls have the same', async t => {
  const body = await client.batch([{ call_id: 'my-custom-id-123', name: 'echo', arguments: { n: 1 } }, { call_id: 'my-custom-id-123', name: 'echo', arguments: { n: 2 } }])
  t.same(body.results.map(result => [result.call_id, result.output]), [['my-custom-id-123', { n: 1 }], ['my-custom-id-123', { n: 2 }]])
  t.same(body.tool_messages.map(message => message.tool_call_id), ['my-custom-id-123', 'my-custom-id-123'])
})

t.test('R47 the built-in tools answer in the documented form', async t => {
  const read = await client.call('data_file_read', { path: 'test.txt' })
  t.match(read.output, { path: 'test.txt', content_text: 'hello\n' })
  const search = await client.call('tools_file_search', { query: 'test' })
  t.match(search.output, { results: [{ path: 'notes/test-plan.md', type: 'file' }, { path: 'test.txt', type: 'file' }] })
})

t.test('R49 mode is always sent', async t => {
  for (const mode of ['sync', 'async']) t.equal((await client.batch([{ call_id: 'a', name: 'fake_tool' }], { mode })).mode, mode)
})

t.test('X18 arguments are checked against the schema without coercion, for that call only; defaults are filled in', async t => {
  const body = await client.batch([
    { call_id: 'a', name: 'echo_strict', arguments: { word: 5, extra: true } },
    { call_id: 'b', name: 'echo_strict', arguments: { word: 'ab' } }
  ])
  t.match(body.results[0], { ok: false, error: { code: 'INVALID_ARGUMENTS' } })
  const { issues } = body.results[0]?.error?.details as { issues: Array<{ path: string }> }
  t.ok(issues.some(issue => issue.path === '/word'))
  t.same(body.results[1]?.output, { word: 'ab', times: 1 })
})

t.test('RC11 names match exactly: a job type or another case is unknown', async t => {
  for (const name of ['data.file_read', 'Echo', ' echo']) t.equal((await client.call(name)).error?.code, 'UNKNOWN_TOOL')
})
