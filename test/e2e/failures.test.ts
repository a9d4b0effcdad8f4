import type { JobResponse } from '@toolyard/contract'
import t from 'tap'
import { reach } from '../jobs/submission.ts'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from './tools.ts'

const slow = { name: 'nap_short', schema: { type: 'object' }, command: ['./tools/bin/nap'], timeoutSec: 1 }
const { client } = await createService(t, { files: programs, tools: [...entries, slow] })

t.test('A40, X6 a tool that fails gives its own message', async t => {
  t.same((await client.call('fail', { stderr: '{"error":"boom","hint":"try again"}' })).error, { code: 'TOOL_FAILED', message: 'boom', details: { hint: 'try again' } })
  t.same((await client.call('fail', { stderr: ' plain words\n' })).error, { code: 'TOOL_FAILED', message: 'plain words' })
  t.same((await client.call('fail', { code: 3 })).error, { code: 'TOOL_FAILED', message: 'exit status 3' })
})

t.test('X7 a tool that runs too long is TOOL_TIMEOUT, which is not TIMEOUT', async t => {
  t.same((await client.call('nap_short', { ms: 30_000 })).error, { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: 1 } })
})

t.test('X18 null for an optional argument is not listed among real faults', async t => {
  const { error } = await client.call('echo_strict', { word: 'x', times: null })
  t.match(error, { code: 'INVALID_ARGUMENTS', details: { issues: [{ path: '/word' }] } })
  t.equal((error?.details as { issues: unknown[] }).issues.length, 1)
})

t.test('AC12 a missing program fails its call alone', async t => {
  const body = await client.batch([{ call_id: 'a', name: 'absent' }, { call_id: 'b', name: 'echo' }])
  t.equal(body.results[0]?.error?.code, 'TOOL_UNAVAILABLE')
  t.equal(body.results[1]?.ok, true)
})

t.test('RC12 a queue that the key may not use is an embedded FORBIDDEN', async t => {
  const body = await client.batch([{ call_id: 'a', name: 'echo' }], { queue: 'other' }, testKeys.limited)
  t.same(body.results[0]?.error, { code: 'FORBIDDEN', message: "Queue 'other' is not allowed for this API key.", details: { allowed_queues: ['allowed'] } })
  t.equal((await client.batch([{ call_id: 'a', name: 'echo' }], { queue: 'allowed' }, testKeys.limited)).results[0]?.ok, true)
})

t.test('RC24, RC25 a job is read with its error; jobs of others and unknown jobs are 404', async t => {
  const { results: [result] } = await client.batch([{ call_id: 'a', name: 'fail', arguments: { stderr: 'no' } }], { mode: 'async' })
  const path = `/v1/jobs/${result?.job_id}`
  const job = await reach(client, result?.job_id ?? '', 'failed')
  t.match(job.error, { code: 'TOOL_FAILED', message: 'no', at: /Z$/ })
  t.equal((await client.request(path, { key: testKeys.read })).status, 200)
  const notFound = { code: 'NOT_FOUND', message: 'Job not found' }
  t.same((await client.request(path, { key: testKeys.limited })).body['error'], notFound)
  for (const id of ['0197c9a5-0000-7000-8000-000000000000', 'nonsense', '..%2f..', 'meta']) {
    const answer = await client.request(`/v1/jobs/${id}`)
    t.equal(answer.status, 404)
    t.same(answer.body['error'], notFound)
  }
})

t.test('R35, R43, R44 a long output is truncated in answer and message, and whole in the job', async t => {
  const body = await client.batch([{ call_id: 'a', name: 'big', arguments: { char: 'é', count: 30_000 } }])
  const json = JSON.stringify('é'.repeat(30_000))
  const output = { truncated: true, bytes: Buffer.byteLength(json), preview: json.slice(0, 12_000) }
  t.same(body.results[0], { call_id: 'a', name: 'big', ok: true, output, job_id: body.results[0]?.job_id })
  t.match((await client.request<JobResponse>(`/v1/jobs/${body.results[0]?.job_id}`)).body.job, { result: 'é'.repeat(30_000) })
  const id = body.results[0]?.job_id
  const message = `This is a part of an output of 60002 bytes: output_read with {"job_id": "${id}", "offset": 11999} reads on, output_search with {"job_id": "${id}", "pattern": ...} finds lines in it`
  t.equal(body.tool_messages[0]?.content, JSON.stringify({ ok: true, result: output, message }))
})

t.test('RC18, X10 the bound is 12,000 UTF-16 units of JSON, and no pair is split', async t => {
  const outputOf = async (args: object): Promise<unknown> => (await client.call('big', args)).output
  t.equal(await outputOf({ char: 'x', count: 11_998 }), 'x'.repeat(11_998), '12,000 units are whole')
  t.match(await outputOf({ char: 'x', count: 11_999 }), { truncated: true, bytes: 12_001 })
  t.equal(await outputOf({ char: 'ä', count: 11_992 }), 'ä'.repeat(11_992), 'bytes do not count')
  const { preview } = await outputOf({ char: '😀', count: 9_000 }) as { preview: string }
  t.equal(preview, `"${'😀'.repeat(5_999)}`)
})

t.test('a job keeps an output of hundreds of KiB whole', async t => {
  const { results: [result] } = await client.batch([{ call_id: 'a', name: 'big', arguments: { char: 'x', count: 500_000 } }], { mode: 'async' })
  const job = await reach(client, result?.job_id ?? '', 'succeeded')
  t.equal(job.result, 'x'.repeat(500_000))
})

t.test('fault 3 an output above the cap is cut, counted and answered', async t => {
  const result = await client.call('big', { char: 'x', count: 50_000_000 })
  t.match(result, { ok: true, output: { truncated: true, bytes: 50_000_002 } })
})
