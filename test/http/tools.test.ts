import fc from 'fast-check'
import t, { type Test } from 'tap'
import { ToolInvoker } from '@toolyard/api'
import { callErrors } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { running } from '../jobs/submission.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'
import type { Answer, RequestOptions } from '../support/client.ts'
import { anyCharacter } from '../support/any-character.ts'

const { API_KEYS_JSON } = makeKeys({ read: {}, limited: { queue_allowlist: ['allowed'], permissions: ['read_repo', 'write_files'] } })
const odd = ['word/count 100%?', 'ü & ö', 'x'.repeat(300), 'constructor', '../up', 'a%2Fb']
const { client, redis, app } = await injectService(t, {
  files: programs,
  tools: [...entries, ...odd.map(name => ({ name, schema: { type: 'object' }, command: ['./tools/bin/echo'] })), { name: 'writer', schema: { type: 'object' }, command: ['./tools/bin/echo'], permissions: ['network'] }],
  env: {
    MAX_QUEUES: '4',
    API_KEYS_JSON
  }
})

async function post (name: string, body: unknown, query = '', options: RequestOptions = {}): Promise<Answer<never>> {
  return await client.request(`/v1/tools/${encodeURIComponent(name)}${query}`, { method: 'POST', ...(body === undefined ? {} : { body }), ...options })
}

/** Expects an error with the status of its code, in the usual body. */
async function fails (t: Test, answer: Answer, status: number, code: string, rest: object = {}): Promise<void> {
  t.match({ status: answer.status, body: answer.body }, { status, body: { ok: false, error: { code }, request_id: answer.headers.get('x-request-id'), ...rest } }, code)
  t.match(answer.headers.get('content-type'), /^application\/json/)
}

t.test("the arguments are the body, and the tool's output is the answer", async t => {
  const answer = await post('echo', { a: [1, { b: null }] })
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  t.same(answer.body, { a: [1, { b: null }] })
  const job = await client.request<{ job: { status: string, tags: string[] } }>(`/v1/jobs/${answer.headers.get('x-toolyard-job-id')}`)
  t.match(job.body.job, { status: 'succeeded', tool: 'echo', queue: 'default', tags: ['agent-tool'] })
})

t.test('every output is JSON: a text is a JSON string, and null, false and 0 are themselves', async t => {
  for (const [args, json] of [[{ text: 'plain "text"\n€' }, '"plain \\"text\\"\\n€"'], [{ text: '' }, '{}'], [{ value: null }, 'null'], [{ value: false }, 'false'], [{ value: 0 }, '0'], [{ value: [] }, '[]']] as const) {
    const answer = await post('value', args)
    t.equal(answer.status, 200)
    t.equal(answer.text, json)
    t.match(answer.headers.get('content-type'), /^application\/json/)
  }
})

t.test('a body that is empty, absent or null is {}; one that is no object is refused', async t => {
  t.same((await post('echo', undefined)).body, {})
  t.same((await post('echo', '')).body, {})
  t.same((await post('echo', 'null')).body, {})
  for (const body of ['[]', '1', '"text"', 'true']) await fails(t, await post('echo', body), 400, 'VALIDATION_ERROR', { error: { message: 'Request body must be an object: the arguments of the tool' } })
  await fails(t, await post('echo', '{"a":'), 400, 'VALIDATION_ERROR')
  await fails(t, await post('echo', 'a=b', '', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  await fails(t, await post('echo', { text: 'x'.repeat(1_048_576) }), 413, 'PAYLOAD_TOO_LARGE')
  await fails(t, await post('echo', `{"a":${'['.repeat(50_000)}`), 400, 'VALIDATION_ERROR')
  await fails(t, await post('echo', '{"__proto__":{}}'), 400, 'VALIDATION_ERROR')
})

t.test('an empty body is still refused where one is needed', async t => {
  t.equal((await client.request('/v1/jobs', { method: 'POST', body: '' })).status, 400)
})

t.test('names of tools are percent-decoded, whatever characters they have', async t => {
  for (const name of odd) t.same((await post(name, { n: 1 })).body, { n: 1 }, name)
  t.equal((await client.request('/v1/tools/%zz', { method: 'POST' })).status, 400)
  for (const name of ['no_such', 'toString', '__proto__', 'y'.repeat(9_000)]) await fails(t, await post(name, {}), 404, 'UNKNOWN_TOOL')
  await fails(t, await post('ech', {}), 404, 'UNKNOWN_TOOL', { error: { details: { did_you_mean: ['echo'] } } })
  await t.resolves(fc.assert(fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 40 }).filter(name => !['.', '..'].includes(name)), async name => {
    const { statusCode } = await app.inject({ method: 'POST', url: `/v1/tools/${encodeURIComponent(name)}`, headers: { 'x-api-key': testKeys.admin } })
    return statusCode === 404 || statusCode === 200
  }), { numRuns: 30 }))
})

t.test('the query is wait_ms and queue, checked as in a batch, and nothing else', async t => {
  for (const wait of ['99', '60001', '1e3', '', 'x', '500&wait_ms=500']) await fails(t, await post('echo', {}, `?wait_ms=${wait}`), 400, 'VALIDATION_ERROR', { error: { message: "'wait_ms' must be an integer 100..60000" } })
  for (const queue of ['A', '', 'x'.repeat(81)]) await fails(t, await post('echo', {}, `?queue=${queue}`), 400, 'VALIDATION_ERROR', { error: { message: "'queue' must match ^[a-z0-9._:-]{1,80}$" } })
  await fails(t, await post('echo', {}, '?wait=1'), 400, 'VALIDATION_ERROR', { error: { message: "'wait' is not a known parameter (known: 'wait_ms', 'queue', 'session', 'dry_run')" } })
  const answer = await post('echo', {}, '?wait_ms=60000&queue=own')
  t.match((await client.request<{ job: object }>(`/v1/jobs/${answer.headers.get('x-toolyard-job-id')}`)).body.job, { queue: 'own' })
})

t.test('a call that takes longer is a 202 that names its job, which goes on running', async t => {
  const answer = await post('nap', { ms: 700 }, '?wait_ms=100')
  const id = answer.headers.get('x-toolyard-job-id')
  t.equal(answer.status, 202)
  t.same(answer.body, { ok: true, pending: true, job_id: id })
  t.equal(answer.headers.get('location'), `/v1/jobs/${id}`)
  const job = await waitFor('the job ends', async () => {
    const { body } = await client.request<{ job: { status: string, result: unknown } }>(answer.headers.get('location') ?? '')
    return body.job.status === 'succeeded' && body.job
  })
  t.same(job.result, { slept: 700 })
})

t.test('the output is whole, far beyond what a model gets', async t => {
  const answer = await post('big', { char: 'é', count: 400_000 })
  t.equal(answer.status, 200)
  t.equal(answer.text, `"${'é'.repeat(400_000)}"`)
  t.equal(answer.headers.get('x-toolyard-output-bytes'), null)
})

t.test('the answer to a call whose output exceeds MAX_OUTPUT_BYTES has the part that is kept, and the size of the whole', async t => {
  const answer = await post('big', { char: 'x', count: 1_200_000 })
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('x-toolyard-output-bytes'), '1200002')
  t.ok((JSON.parse(answer.text) as string).length > 1_000_000)
})

t.test('a call that failed has the status of its code, and names its job', async t => {
  const failed = await post('fail', { stderr: '{"error":"no luck","why":1}' })
  await fails(t, failed, 422, 'TOOL_FAILED', { error: { message: 'no luck', details: { why: 1 } }, job_id: failed.headers.get('x-toolyard-job-id') ?? '-' })
  await fails(t, await post('echo_strict', { word: 1 }), 400, 'INVALID_ARGUMENTS')
  await fails(t, await post('off', {}), 403, 'JOB_TYPE_DISABLED')
  await fails(t, await post('absent', {}), 503, 'TOOL_UNAVAILABLE')
  await fails(t, await post('echo', {}, '', { key: testKeys.limited }), 403, 'FORBIDDEN')
  await fails(t, await post('writer', {}, '?queue=allowed', { key: testKeys.limited }), 403, 'FORBIDDEN')
  t.equal((await post('echo', {}, '?queue=allowed', { key: testKeys.limited })).status, 200)
  const invalid = await post('echo_strict', {})
  t.notOk('job_id' in (invalid.body as object))
  t.equal(invalid.headers.get('x-toolyard-job-id'), null)
})

t.test('fault 39 what a tool prints of the keys of the service does not reach its error', async t => {
  const stderr = JSON.stringify({ error: `no ${testKeys.admin}`, tried: [{ [testKeys.read]: testKeys.admin }] })
  const hidden = '***REDACTED***'
  await fails(t, await post('fail', { stderr }), 422, 'TOOL_FAILED', { error: { message: `no ${hidden}`, details: { tried: [{ [hidden]: hidden }] } } })
})

t.test('the key is checked before everything else, and must be that of an admin', async t => {
  await fails(t, await post('echo', 'x'.repeat(2_000_000), '?x=1', { key: 'wrong' }), 401, 'UNAUTHORIZED')
  await fails(t, await post('echo', {}, '', { key: null }), 401, 'UNAUTHORIZED')
  await fails(t, await post('echo', {}, '', { key: testKeys.read }), 403, 'FORBIDDEN')
})

t.test('the status of a cancelled job makes no client repeat it', async t => {
  const calling = post('nap', { ms: 15_000 }, '?queue=own')
  const id = await running(client, '&queue=own')
  await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
  await fails(t, await calling, 422, 'JOB_CANCELLED', { job_id: id })
})

t.test('RC23 a request that is repeated with its Idempotency-Key runs the tool once, and has the same answer', async t => {
  const headers = { 'idempotency-key': 'once' }
  const [first, second] = await Promise.all([post('echo', { n: 1 }, '', { headers }), post('echo', { n: 1 }, '?wait_ms=5000', { headers })])
  t.same(second.body, { n: 1 })
  t.equal(first.headers.get('x-toolyard-job-id'), second.headers.get('x-toolyard-job-id'))
  await fails(t, await post('echo', { n: 2 }, '', { headers }), 409, 'IDEMPOTENCY_CONFLICT')
  await fails(t, await post('value', { n: 1 }, '', { headers }), 409, 'IDEMPOTENCY_CONFLICT')
  await fails(t, await post('echo', { n: 1 }, '', { headers: { 'idempotency-key': 'a b' } }), 400, 'VALIDATION_ERROR')
  const large = await post('big', { char: 'x', count: 20_000 }, '', { headers: { 'idempotency-key': 'large' } })
  t.equal((await post('big', { char: 'x', count: 20_000 }, '', { headers: { 'idempotency-key': 'large' } })).text, large.text)
})

t.test('a queue beyond the limit is a 429 with Retry-After', async t => {
  for (const queue of ['two', 'three']) await post('echo', {}, `?queue=${queue}`)
  const full = await waitFor('no further queue may be made', async () => {
    for (const queue of ['four', 'five', 'six']) {
      const answer = await post('echo', {}, `?queue=${queue}`)
      if (answer.status !== 200) return answer
    }
    return undefined
  })
  await fails(t, full, 429, 'QUEUE_FULL')
  t.equal(full.headers.get('retry-after'), '1')
})

t.test('a call that may have run never gets a status that clients repeat by themselves', async t => {
  const repeated = Object.entries(callErrors).filter(([, { status }]) => status >= 500 || [408, 409, 425, 429].includes(status))
    .map(([code]) => code)
  t.same(repeated, ['TOOL_UNAVAILABLE', 'SANDBOX_FAILED', 'QUEUE_FULL'])
})

t.test('a missing program is not a 503 when an earlier attempt may have run the tool', async t => {
  const limit = async (attempts: number): Promise<void> => {
    const { status } = await client.request('/v1/job-types/agentcli.absent', { method: 'PATCH', body: { default_max_attempts: attempts } })
    t.equal(status, 200)
  }
  await limit(2)
  await fails(t, await post('absent', {}), 422, 'TOOL_UNAVAILABLE')
  await limit(1)
  await fails(t, await post('absent', {}), 503, 'TOOL_UNAVAILABLE')
})

t.test('an unexpected fault makes clients repeat only requests with an Idempotency-Key', async t => {
  const fault = new TypeError('a fault')
  const caller = { principal: {} as never, abandoned: new AbortController().signal }
  for (const jobs of [['its-job'], []]) {
    const batches = { invoke: async (_: unknown, { onJobs }: { onJobs: (ids: string[]) => void }) => { onJobs(jobs); throw fault } }
    const invoker = new ToolInvoker(batches as never, {} as never, () => 1)
    const call = { name: 'echo', arguments: {}, waitMs: 100, queue: 'default' }
    const expected = { kind: 'failed', jobId: jobs[0], error: { code: 'INTERNAL', details: { may_exist: true } }, mayHaveRun: true, cause: fault }
    t.match(await invoker.invoke(call, { ...caller, idempotencyKey: undefined }), expected)
    await t.rejects(invoker.invoke(call, { ...caller, idempotencyKey: 'once' }), fault)
  }
})

t.test('when a job may have been made, the answer is a 503 with an Idempotency-Key, and without one an error that clients do not repeat', async t => {
  // An answer of Redis that a request asks for before it adds a job is remembered for a second; else it would end there, as a plain 503.
  const clock = performance.now.bind(performance)
  const now = performance.now()
  performance.now = () => now
  t.teardown(() => { performance.now = clock })
  await post('echo', {})
  process.kill(redis.pid(), 'SIGSTOP')
  const answers = await Promise.all([post('echo', { lost: 1 }), post('echo', { lost: 1 }, '', { headers: { 'idempotency-key': 'lost' } })])
  process.kill(redis.pid(), 'SIGCONT')
  performance.now = clock
  await fails(t, answers[0], 422, 'INTERNAL', { error: { details: { may_exist: true } } })
  await fails(t, answers[1], 503, 'UNAVAILABLE')
  const again = await waitFor('Redis is back', async () => {
    const answer = await post('echo', { lost: 1 }, '', { headers: { 'idempotency-key': 'lost' } })
    return answer.status < 500 && answer
  })
  t.same(again.body, { lost: 1 })
})
