import t, { type Test } from 'tap'
import { injectService } from '../support/injected.ts'
import { entries, programs } from '../e2e/tools.ts'

const { client } = await injectService(t, { files: programs, tools: entries, workers: 0 })
const path = '/v1/agent-tools/invoke-batch'
const call = { call_id: 'a', name: 'no_such_tool' }
const accepted = async (body: unknown): Promise<boolean> => (await client.request(path, { body })).status === 200

/** Expects a 400 with this text. */
async function refused (t: Test, body: unknown, message: string): Promise<void> {
  const answer = await client.request(path, { body })
  t.equal(answer.status, 400, message)
  t.same(answer.body, { ok: false, error: { code: 'VALIDATION_ERROR', message, details: {} }, request_id: answer.headers.get('x-request-id') })
}

t.test('R30, X5 a validation error is a 400 with the documented body', async t => {
  await refused(t, {}, "'calls' must be an array")
  await refused(t, { calls: { 0: call } }, "'calls' must be an array")
})

t.test('R14 a batch has 1 to 20 calls', async t => {
  await refused(t, { calls: [] }, "'calls' must have at least 1 item")
  await refused(t, { calls: Array(21).fill(call) }, "'calls' must have at most 20 items")
  t.ok(await accepted({ calls: Array(20).fill(call) }))
  await refused(t, { calls: [call, 5] }, 'calls[1] must be an object')
  await refused(t, { calls: [[]] }, 'calls[0] must be an object')
})

t.test('R15 call_id is a string of 1 to 120 UTF-16 units', async t => {
  await refused(t, { calls: [{ name: 'x' }] }, 'calls[0].call_id is required')
  await refused(t, { calls: [{ call_id: 7, name: 'x' }] }, 'calls[0].call_id is required')
  await refused(t, { calls: [{ call_id: ' ', name: 'x' }] }, 'calls[0].call_id is required')
  await refused(t, { calls: [call, { call_id: 'x'.repeat(121), name: 'x' }] }, 'calls[1].call_id must be at most 120 characters')
  await refused(t, { calls: [{ call_id: '😀'.repeat(61), name: 'x' }] }, 'calls[0].call_id must be at most 120 characters')
  t.ok(await accepted({ calls: [{ call_id: 'x'.repeat(120), name: 'x' }] }))
})

t.test('R16, R48 name is a string; one that is not in the registry is an embedded error', async t => {
  await refused(t, { calls: [{ call_id: 'a' }] }, 'calls[0].name is required')
  await refused(t, { calls: [{ call_id: 'a', name: '' }] }, 'calls[0].name is required')
  t.ok(await accepted({ calls: [call] }))
})

t.test('R17, X1 arguments may be left out or null; anything but an object is refused', async t => {
  t.ok(await accepted({ calls: [call] }))
  t.ok(await accepted({ calls: [{ ...call, arguments: null }] }))
  for (const wrong of [[], 'text', 5, true]) await refused(t, { calls: [{ ...call, arguments: wrong }] }, 'calls[0].arguments must be an object or null')
})

t.test('R18, X2 mode is exactly sync or async; null means the default', async t => {
  for (const wrong of ['SYNC', 'later', 1]) await refused(t, { calls: [call], mode: wrong }, "'mode' must be 'sync' or 'async'")
  for (const right of ['sync', 'async', null]) t.ok(await accepted({ calls: [call], mode: right }))
})

t.test('R19, X2 wait_ms is an integer 100..60000', async t => {
  for (const wrong of [99, 60_001, 100.9, '500', [200], 0]) await refused(t, { calls: [call], wait_ms: wrong }, "'wait_ms' must be an integer 100..60000")
  for (const right of [100, 60_000, null]) t.ok(await accepted({ calls: [call], wait_ms: right }))
})

t.test('R20, X2 queue matches the documented pattern', async t => {
  for (const wrong of ['A', '', 'a b', 'a\n', 'x'.repeat(81), 5]) await refused(t, { calls: [call], queue: wrong }, "'queue' must match ^[a-z0-9._:-]{1,80}$")
  for (const right of ['a:b.c_d-e', 'x'.repeat(80), null]) t.ok(await accepted({ calls: [call], queue: right }))
})

t.test('RC8 the first error is reported, in the documented order', async t => {
  await refused(t, [], 'Request body must be an object')
  await refused(t, { calls: [{}], mode: 'x', wait_ms: 1, queue: 'Q' }, 'calls[0].call_id is required')
  await refused(t, { calls: [call], mode: 'x', wait_ms: 1, queue: 'Q' }, "'mode' must be 'sync' or 'async'")
  await refused(t, { calls: [call], wait_ms: 1, queue: 'Q' }, "'wait_ms' must be an integer 100..60000")
})

t.test('an unknown field is refused, and the error names the known ones', async t => {
  await refused(t, { calls: [call], wait: 500 }, "'wait' is not a known field (known: 'calls', 'tool_calls', 'output', 'content', 'mode', 'wait_ms', 'queue', 'session', 'conversation', 'on_disconnect', 'max_output_chars', 'callback_url')")
  await refused(t, { calls: [{ ...call, args: {} }] }, "'calls[0].args' is not a known field (known: 'call_id', 'name', 'arguments')")
})

t.test('R33, X28 malformed JSON, other content types and missing routes get JSON errors', async t => {
  const malformed = await client.request<{ error: { code: string, message: string } }>(path, { body: '{"calls": [' })
  t.equal(malformed.status, 400)
  t.equal(malformed.body.error.code, 'VALIDATION_ERROR')
  t.match(malformed.body.error.message, /^Request body is not valid JSON/)
  const plain = await client.request<{ error: { code: string, message: string } }>(path, { body: 'hello', headers: { 'content-type': 'text/plain' } })
  t.equal(plain.status, 415)
  t.equal(plain.body.error.code, 'UNSUPPORTED_MEDIA_TYPE')
  t.match(plain.body.error.message, /send the header content-type: application\/json/)
  const nowhere = await client.request<{ error: { code: string } }>('/v2/nothing')
  t.equal(nowhere.status, 404)
  t.equal(nowhere.body.error.code, 'NOT_FOUND')
})

t.test('a path that is asked by another method than its own says which ones it takes', async t => {
  const messageOf = async (path: string, method = 'GET'): Promise<string> => (
    (await client.request<{ error: { message: string } }>(path, { method })).body.error.message
  )
  t.equal(await messageOf('/v1/tools/echo?wait_ms=100'), 'No route GET /v1/tools/echo; this path takes POST')
  t.equal(await messageOf(path, 'PUT'), `No route PUT ${path}; this path takes POST`)
  t.equal(await messageOf('/v1/jobs', 'DELETE'), 'No route DELETE /v1/jobs; this path takes POST, GET')
  t.equal(await messageOf('/v1/files/a/b', 'POST'), 'No route POST /v1/files/a/b; this path takes GET, PUT, DELETE')
  t.equal(await messageOf('/v1/tools/a/b'), 'No route GET /v1/tools/a/b')
})

t.test('a request without a byte of a body has none, whatever its content type says', async t => {
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain;charset=UTF-8', 'application/octet-stream', 'multipart/form-data']) {
    const send = async (path: string, method: string): Promise<{ status: number, text: string }> => await client.request(path, { method, headers: { 'content-type': type } })
    t.match(await send('/v1/jobs/00000000-0000-4000-8000-000000000000', 'DELETE'), { status: 404 }, `DELETE with ${type}`)
    t.match(await send('/v1/jobs/00000000-0000-4000-8000-000000000000/cancel', 'POST'), { status: 404 })
    t.match(await send('/v1/auth/sse-token', 'POST'), { status: 200 })
    t.match(await send(path, 'POST'), { status: 400, text: /"Request body must be an object"/ })
  }
})

t.test('R34 a body above 1 MiB is a JSON 413, one just below it is served', async t => {
  const text = 'x'.repeat(1_048_576)
  const large = await client.request<{ error: { code: string } }>(path, { body: { calls: [{ ...call, arguments: { text } }] } })
  t.equal(large.status, 413)
  t.equal(large.body.error.code, 'PAYLOAD_TOO_LARGE')
  t.ok(await accepted({ calls: [{ ...call, arguments: { text: text.slice(0, 1_000_000) } }] }))
})

t.test('X28 authentication comes before the body', async t => {
  for (const body of ['{"calls": [', 'x'.repeat(2_000_000)]) t.equal((await client.request(path, { key: 'wrong', body })).status, 401)
})
