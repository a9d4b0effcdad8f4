import type { CallResult, InvokeBatchResponse } from '@toolyard/contract'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, post, reach, read, submit } from '../jobs/submission.ts'
import { meta } from '../mcp/clients.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  limited: { queue_allowlist: ['allowed'] },
  acme: { name: 'acme-1', tenant: 'acme' },
  acmeToo: { name: 'acme-2', tenant: 'acme', permissions: [] },
  other: { tenant: 'other' }
})
const service = await injectService(t, {
  files: {
    ...programs,
    'workspace/workflows.yaml': 'workflows: {asks: {steps: [{tool: job_result, arguments: {job_id: x}}]}}'
  },
  tools: entries,
  env: {
    WORKER_CONCURRENCY: '1',
    API_KEYS_JSON
  }
})
const { client } = service
const redis = plainRedis(t, service.redis)
const nowhere = '01a00000-0000-7000-8000-000000000000'

t.test('a request that names a session asks only for jobs of that session', async t => {
  const [one, two] = [await client.session(keys.acme), await client.session(keys.acme)]
  const job = await submit(client, { type: 'agentcli.echo', session: one, delay_ms: 600_000 }, { key: keys.acme })
  const plain = await submit(client, { type: 'agentcli.echo', delay_ms: 600_000 }, { key: keys.acme })
  const told = async (id: string, session?: string): Promise<boolean> => {
    const result = await ask('job_result', { job_id: id, wait_ms: 0 }, { key: keys.acme, ...(session === undefined ? {} : { session }) })
    return result.pending === true
  }
  t.same([await told(job.id, one), await told(job.id, two), await told(plain.id, one)], [true, false, false])
  t.same([await told(job.id), await told(plain.id)], [true, true], 'a request without a session sees those of its tenant')
  t.match(await ask('job_cancel', { job_id: job.id }, { key: keys.acme, session: two }), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /there is no job/ } })
  t.match(await ask('job_cancel', { job_id: job.id }, { key: keys.acme, session: one }), { ok: true, output: { cancelled: true } })
})

async function ask (
  name: string, args: object, { key = testKeys.admin, ...rest }: { key?: string } & Record<string, unknown> = {}
): Promise<CallResult> {
  const { results: [result] } = await client.batch([{ call_id: 'c', name, arguments: args }], rest, key)
  return result ?? t.fail('no result') as never
}

/** A call that goes on; its job. */
async function pendingCall (args: object, key?: string): Promise<string> {
  const result = await ask('nap', args, { wait_ms: 100, ...(key === undefined ? {} : { key }) })
  t.match(result, { pending: true })
  return result.job_id ?? ''
}

t.test('job_result waits on for a job whose record is not there for a while, as in a failover', async t => {
  const { id } = await submit(client, { type: 'agentcli.echo', delay_ms: 600_000 })
  const record = `toolyard:{default}:${id}`
  let looks = 0
  await monitorRedis(t, service.redis.socket, ([command, key]) => { if (command?.toLowerCase() === 'hmget' && key === record) looks++ })
  const asked = ask('job_result', { job_id: id, wait_ms: 60_000 }, { wait_ms: 60_000 })
  await waitFor('it has seen the job', () => looks >= 2)
  await redis.rename(record, 'elsewhere:{default}')
  const before = looks
  await waitFor('it has looked in vain', () => looks >= before + 1)
  await redis.rename('elsewhere:{default}', record)
  await cancel(client, id)
  t.match(await asked, { ok: false, job_id: id, error: { code: 'JOB_CANCELLED' } })
})

t.test('job_result gives what the call would have answered: its output, its error, its cut output', async t => {
  const id = await pendingCall({ ms: 800 })
  const result = await ask('job_result', { job_id: id })
  t.same(result, { call_id: 'c', name: 'job_result', ok: true, output: { slept: 800 }, job_id: id })
  const failing = await submit(client, { type: 'agentcli.fail', input: { stderr: 'no luck' } })
  t.match(await ask('job_result', { job_id: failing.id }), { ok: false, job_id: failing.id, error: { code: 'TOOL_FAILED', message: 'no luck' } })
  const big = await submit(client, { type: 'agentcli.big', input: { char: 'x', count: 20_000 } })
  t.match(await ask('job_result', { job_id: big.id }), { ok: true, output: { truncated: true, bytes: 20_002 } })
})

t.test('job_result of a running job is pending again, and says how to ask later', async t => {
  const id = await pendingCall({ ms: 60_000 })
  const body = await client.batch([{ call_id: 'c', name: 'job_result', arguments: { job_id: id, wait_ms: 0 } }])
  t.match(body.results, [{ ok: false, pending: true, job_id: id, error: { code: 'TIMEOUT' } }])
  t.match(JSON.parse(body.tool_messages[0]?.content ?? ''), { pending: true, message: `Job ${id} still goes on; call job_result with this job_id to come back for its answer` })
  t.match(await ask('job_result', { job_id: id, wait_ms: 60_000 }, { wait_ms: 100 }), { pending: true }, 'the batch ends first')
  const waiting = ask('job_result', { job_id: id, wait_ms: 60_000 }, { wait_ms: 60_000 })
  t.match(await ask('job_cancel', { job_id: id }), { ok: true, output: { job_id: id, status: 'cancelled', cancelled: true } })
  t.match(await waiting, { ok: false, job_id: id, error: { code: 'JOB_CANCELLED' } })
  t.match(await ask('job_cancel', { job_id: id }), { ok: true, output: { status: 'cancelled', cancelled: true } }, 'again')
  const done = await submit(client, { type: 'agentcli.echo' })
  await reach(client, done.id, 'succeeded')
  t.match(await ask('job_cancel', { job_id: done.id }), { ok: true, output: { job_id: done.id, status: 'succeeded', cancelled: false } })
})

t.test('many job_result calls for queued jobs take no slot of a worker', async t => {
  const holding = await pendingCall({ ms: 60_000 })
  const waiting = await Promise.all(Array.from({ length: 12 }, () => submit(client, { type: 'agentcli.echo', input: { word: 'late' } })))
  const before = (await list(client, '?limit=200')).count
  const asking = client.batch(waiting.map(({ id }) => ({ call_id: id, name: 'job_result', arguments: { job_id: id, wait_ms: 60_000 } })), { wait_ms: 60_000 })
  await cancel(client, holding)
  t.ok((await asking).results.every(({ ok, output }) => ok && (output as { word: string }).word === 'late'))
  t.equal((await list(client, '?limit=200')).count, before, 'no job was made')
})

t.test('a job of another key, a job that never existed and an invalid id give the same answer', async t => {
  const own = await submit(client, { type: 'agentcli.nap', input: { ms: 1 } }, { key: keys.acme })
  await reach(client, own.id, 'succeeded')
  t.match(await ask('job_result', { job_id: own.id }, { key: keys.acmeToo }), { ok: true, output: { slept: 1 } }, 'of the same tenant')
  const late = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000 }, { key: keys.acme })
  for (const name of ['job_result', 'job_cancel']) {
    const answers = await Promise.all([
      ask(name, { job_id: nowhere }, { key: keys.other }), ask(name, { job_id: late.id }, { key: keys.other }),
      ask(name, { job_id: late.id }, { key: testKeys.limited, queue: 'allowed' })
    ])
    for (const { error, job_id: id } of answers) {
      t.equal(id, undefined)
      t.equal(error?.code, 'INVALID_ARGUMENTS')
      t.match(error?.message.replaceAll(/[0-9a-f-]{36}/g, 'ID'), "job_id: there is no job 'ID' here: it was never made, belongs to somebody else, or is no longer kept")
    }
  }
  for (const id of ['x', '../..', '*', 'a'.repeat(200), nowhere.toUpperCase()]) t.match(await ask('job_result', { job_id: id }), { error: { code: 'INVALID_ARGUMENTS' } }, id)
  t.equal((await read(client, late.id)).status, 'queued')
  t.match(await ask('job_cancel', { job_id: late.id }, { key: keys.acmeToo }), { output: { cancelled: true } })
})

t.test('a job that is removed while a call waits for it is not found', async t => {
  const late = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000 })
  const waiting = ask('job_result', { job_id: late.id, wait_ms: 60_000 }, { wait_ms: 60_000 })
  const [key = ''] = await waitFor('its record', async () => {
    const keys = await redis.keys(`*:${late.id}`)
    return keys.length > 0 && keys
  })
  await redis.del(key)
  t.match(await waiting, { ok: false, error: { code: 'INVALID_ARGUMENTS' } })
})

t.test('they answer at once in async mode, and in the form of each provider', async t => {
  const id = await pendingCall({ ms: 60_000 })
  const send = async (format: string, mode: string): Promise<InvokeBatchResponse> => (await client.request<InvokeBatchResponse>(
    `/v1/agent-tools/invoke-batch?format=${format}`,
    { body: { mode, wait_ms: 100, calls: [{ call_id: 'c', name: 'job_result', arguments: { job_id: id } }] } }
  )).body
  for (const mode of ['sync', 'async']) {
    for (const format of ['chat', 'responses', 'anthropic']) {
      const { results, messages } = await send(format, mode)
      t.match(results, [{ ok: false, pending: true, job_id: id }])
      t.match(JSON.stringify(messages), new RegExp(`Job ${id} still goes on; call job_result`), `${mode} ${format}`)
    }
  }
  await ask('job_cancel', { job_id: id })
  const done = await submit(client, { type: 'agentcli.echo', input: { a: 1 } })
  await reach(client, done.id, 'succeeded')
  const { body } = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch?format=chat', {
    body: {
      mode: 'async', calls: [{ call_id: 'c', name: 'job_result', arguments: { job_id: done.id } }]
    }
  })
  const content = JSON.stringify({ ok: true, result: { a: 1 } })
  t.match(body, { tool_messages: [], results: [{ ok: true, output: { a: 1 } }], messages: [{ content }] })
})

t.test('a pending call says which tool is running and how to ask later, if the key has job_result', async t => {
  const body = await client.batch([{ call_id: 'c', name: 'nap', arguments: { ms: 60_000 } }], { wait_ms: 100 })
  const id = body.results[0]?.job_id
  t.match(JSON.parse(body.tool_messages[0]?.content ?? ''), { message: `Tool 'nap' goes on as job ${id}; call job_result with this job_id to come back for its answer` })
  await client.request('/v1/job-types/job.result', { method: 'PATCH', body: { enabled: false } })
  t.match(await ask('job_result', { job_id: id }), { error: { code: 'JOB_TYPE_DISABLED' } })
  const without = await client.batch([{ call_id: 'c', name: 'nap', arguments: { ms: 60_000 } }], { wait_ms: 100 })
  t.match(JSON.parse(without.tool_messages[0]?.content ?? ''), { message: `Tool 'nap' goes on as job ${without.results[0]?.job_id}` })
  await client.request('/v1/job-types/job.result', { method: 'PATCH', body: { enabled: true } })
  for (const job of [id, without.results[0]?.job_id]) await ask('job_cancel', { job_id: job })
})

t.test('POST /v1/tools/job_result gives the output, 202 while the job runs, and 400 when it names no job', async t => {
  const late = await submit(client, { type: 'agentcli.echo', input: { a: 1 }, delay_ms: 60_000 })
  const call = async (name: string, args: object): ReturnType<typeof client.request> => await client.request(`/v1/tools/${name}`, { body: args })
  const going = await call('job_result', { job_id: late.id, wait_ms: 0 })
  t.match({ status: going.status, body: going.body, at: going.headers.get('location') }, { status: 202, body: { pending: true, job_id: late.id }, at: `/v1/jobs/${late.id}` })
  t.match(await call('job_cancel', { job_id: late.id }), { status: 200, body: { status: 'cancelled', cancelled: true } })
  t.match(await call('job_result', { job_id: late.id }), { status: 422, body: { error: { code: 'JOB_CANCELLED' } } })
  t.match(await call('job_result', { job_id: nowhere }), { status: 400, body: { error: { code: 'INVALID_ARGUMENTS' } } })
  const done = await submit(client, { type: 'agentcli.big', input: { char: 'x', count: 20_000 } })
  t.equal((await call('job_result', { job_id: done.id })).text.length, 20_002, 'whole')
})

t.test('a client that waits with job_result and disconnects does not cancel the job', async t => {
  const address = await service.app.listen({ port: 0 })
  const late = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000 })
  const abort = new AbortController()
  const calls = [
    { call_id: 'own', name: 'nap', arguments: { ms: 60_000 } }, { call_id: 'c', name: 'job_result', arguments: { job_id: late.id } }
  ]
  const leaving = fetch(`${address}/v1/agent-tools/invoke-batch`, {
    method: 'POST',
    headers: { 'x-api-key': testKeys.admin, 'content-type': 'application/json' },
    body: JSON.stringify({ on_disconnect: 'cancel', wait_ms: 60_000, calls }),
    signal: abort.signal
  }).catch(() => {})
  const own = await waitFor('the own call runs', async () => (await list(client, '?status=running')).jobs[0])
  abort.abort()
  await leaving
  await reach(client, own.id, 'cancelled')
  t.equal((await read(client, late.id)).status, 'queued')
})

t.test('MCP offers both tools', async t => {
  const call = async (name: string, args: object): Promise<{ isError?: boolean, content: Array<{ text: string }>, _meta: object }> => {
    const { text } = await client.request('/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } },
      headers: {
        accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name
      }
    })
    return (JSON.parse(text.slice(text.indexOf('{'))) as { result: never }).result
  }
  const late = await submit(client, { type: 'agentcli.echo', delay_ms: 60_000 })
  const going = await call('job_result', { job_id: late.id, wait_ms: 0 })
  t.match(going, { isError: true, _meta: { 'toolyard/job_id': late.id } })
  t.match(going.content[0]?.text, `Job ${late.id} still goes on; call job_result`)
  t.match(await call('job_cancel', { job_id: late.id }), { structuredContent: { status: 'cancelled' } })
})

t.test('neither tool becomes a job: not by POST /v1/jobs, not as a step, and not with an Idempotency-Key', async t => {
  t.match(await post(client, { type: 'job.result', input: { job_id: nowhere } }), { status: 400, body: { error: { message: /is answered at once and can't be a job/ } } })
  t.match(await ask('workflow_run', { workflow: 'asks' }), { ok: false, error: { message: /step 'step1': Tool 'job_result' is answered at once/ } })
  const first = await submit(client, { type: 'agentcli.echo', input: { n: 1 }, delay_ms: 60_000 })
  const send = async (): Promise<InvokeBatchResponse> => (await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', {
    headers: { 'idempotency-key': 'asks' },
    body: {
      calls: [
        { call_id: 'a', name: 'echo', arguments: {} },
        { call_id: 'b', name: 'job_result', arguments: { job_id: first.id, wait_ms: 0 } }
      ]
    }
  })).body
  const made = await send()
  t.match(made.results, [{ ok: true }, { pending: true, job_id: first.id }])
  await cancel(client, first.id)
  t.match((await send()).results, [{ ok: true, job_id: made.results[0]?.job_id }, { error: { code: 'JOB_CANCELLED' }, job_id: first.id }], 'asked anew')
})
