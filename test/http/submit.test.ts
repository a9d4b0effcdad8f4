import t from 'tap'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'
import { post, reach, submit } from '../jobs/submission.ts'

const service = await injectService(t, { files: programs, tools: entries })
const { client } = service

t.test('RC19, RC21, RC22 a job of a type is made with its defaults, runs, and has every field', async t => {
  const answer = await post(client, { type: 'agentcli.echo', input: { word: 'hello' } })
  t.equal(answer.status, 201)
  t.match(answer.body, { ok: true, idempotent: false, job: { type: 'agentcli.echo', tool: 'echo', queue: 'default', priority: 5, tags: [], max_attempts: 1, timeout_sec: 30 } })
  const job = await reach(client, answer.body.job.id, 'succeeded')
  t.same(Object.keys(job).sort(), [
    'attempts', 'callback_url', 'created_at', 'error', 'finished_at', 'id', 'input', 'key', 'max_attempts', 'priority', 'queue', 'ran_ms', 'request',
    'result', 'sandbox', 'started_at', 'status', 'tags', 'timeout_sec', 'tool', 'type', 'updated_at', 'waited_ms', 'worker'
  ])
  t.same(job.result, { word: 'hello' })
  t.same(job.input, { word: 'hello' })
  t.equal(job.attempts, 1)
  t.equal(job.error, null)
  for (const time of [job.created_at, job.updated_at]) t.equal(new Date(time).toISOString(), time)
})

t.test('a job may be named by its tool, as calls are', async t => {
  const { body: { job } } = await post(client, { type: 'echo', input: { word: 'hello' } })
  t.match(job, { type: 'agentcli.echo', tool: 'echo' })
  t.match(await post(client, { type: 'off' }), { status: 400, body: { error: { message: "Unknown or disabled 'type'" } } })
  t.match(await post(client, { type: 'data_file_read', input: { path: 'README.md' } }), { status: 201, body: { job: { type: 'data.file_read' } } })
})

t.test('RC22 all fields of a submission are kept; tags beyond twenty are dropped', async t => {
  const tags = Array.from({ length: 25 }, (_, index) => `tag-${index}`)
  const job = await submit(client, { type: 'agentcli.echo', queue: 'own:queue', priority: 9, timeout_sec: 7, max_attempts: 3, tags, delay_ms: 10 })
  t.match(job, { queue: 'own:queue', priority: 9, timeout_sec: 7, max_attempts: 3, tags: tags.slice(0, 20) })
  t.equal((await reach(client, job.id, 'succeeded')).priority, 9)
})

t.test('RC22 errors have the documented texts', async t => {
  const type = 'agentcli.echo'
  const cases: Array<[unknown, string]> = [
    [[], 'Request body must be an object'],
    [{}, "Missing/invalid 'type'"],
    [{ type: 5 }, "Missing/invalid 'type'"],
    [{ type: ' ' }, "Missing/invalid 'type'"],
    [{ type: 'no.such' }, "Unknown or disabled 'type'"],
    [{ type: 'agentcli.off' }, "Unknown or disabled 'type'"],
    ...[11, -1, 1.5, '5', true].map((priority): [unknown, string] => [{ type, priority }, "'priority' must be integer 0..10"]),
    ...[0, 3_601, 1.5, '5'].map((value): [unknown, string] => [{ type, timeout_sec: value }, "'timeout_sec' must be integer 1..3600"]),
    ...[0, 11, '1'].map((value): [unknown, string] => [{ type, max_attempts: value }, "'max_attempts' must be integer 1..10"]),
    ...['UPPER', '', 'x'.repeat(81), 5].map((queue): [unknown, string] => [{ type, queue }, "'queue' must match ^[a-z0-9._:-]{1,80}$"]),
    ...[[], 'text', 5].map((input): [unknown, string] => [{ type, input }, "'input' must be an object or null"]),
    ...['a', [''], [5], ['x'.repeat(81)]].map((tags): [unknown, string] => [{ type, tags }, "'tags' must be an array of strings of 1 to 80 characters"]),
    ...[-1, 604_800_001, '5'].map((value): [unknown, string] => [{ type, delay_ms: value }, "'delay_ms' must be integer 0..604800000"])
  ]
  for (const [body, message] of cases) {
    const answer = await post(client, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.same(answer.body, { ok: false, error: { code: 'VALIDATION_ERROR', message, details: {} }, request_id: answer.headers.get('x-request-id') })
  }
  t.match((await post(client, { type, colour: 'red' })).body, { error: { message: /^'colour' is not a known field/ } })
})

t.test('RC22, X18 input that does not fit the schema is refused with its places', async t => {
  const answer = await post(client, { type: 'agentcli.echo_strict', input: { word: 'x' } })
  t.equal(answer.status, 400)
  t.match(answer.body, { error: { code: 'VALIDATION_ERROR', details: { issues: [{ path: '/word' }] } } })
})

t.test('RC5, RC22 a read key submits nothing, and a key submits only to its own queues', async t => {
  t.equal((await post(client, { type: 'agentcli.echo' }, { key: testKeys.read })).status, 403)
  const refused = await post(client, { type: 'agentcli.echo' }, { key: testKeys.limited })
  t.equal(refused.status, 403)
  t.match(refused.body, {
    ok: false, error: { code: 'FORBIDDEN', message: "Queue 'default' is not allowed for this API key.", details: { allowed_queues: ['allowed'] } }
  })
  t.equal((await post(client, { type: 'agentcli.echo', queue: 'allowed' }, { key: testKeys.limited })).status, 201)
})

t.test('RC22 the error of an unknown type names the nearest ones that the key may call', async t => {
  for (const [type, details] of [
    ['agentcli.eco', { did_you_mean: ['agentcli.echo'] }], ['data.file_raed', { did_you_mean: ['data.file_read'] }], ['agentcli.off_', {}]
  ] as const) {
    const error = { code: 'VALIDATION_ERROR', message: "Unknown or disabled 'type'", details }
    const { body, headers } = await post(client, { type })
    t.same(body, { ok: false, error, request_id: headers.get('x-request-id') }, type)
  }
})

t.test('RC22 an unknown type is reported before a queue that the key may not use', async t => {
  const { body } = await post(client, { type: 'no.such' }, { key: testKeys.limited })
  t.match(body, { ok: false, error: { code: 'VALIDATION_ERROR', message: "Unknown or disabled 'type'" } })
})

t.test('X8 a manifest bounds the timeout that a submitter may ask for; a built-in tool does not', async t => {
  t.equal((await submit(client, { type: 'agentcli.nap', input: { ms: 1 }, timeout_sec: 3_600 })).timeout_sec, 20)
  t.equal((await submit(client, { type: 'agentcli.nap', input: { ms: 1 }, timeout_sec: 5 })).timeout_sec, 5)
  const search = { type: 'tools.file_search', input: { query: 'README' } }
  t.equal((await submit(client, { ...search, timeout_sec: 100 })).timeout_sec, 100)
  t.equal((await submit(client, search)).timeout_sec, 45)
})

t.test('X4 a higher priority is served first, whatever the order of arrival', async t => {
  const queue = 'ranked'
  const idle = await injectService(t, { files: programs, tools: entries, workers: 0 })
  const submitted = []
  for (const priority of [0, 5, 10, 1]) submitted.push(await submit(idle.client, { type: 'agentcli.echo', queue, priority }))
  await idle.startWorker({ WORKER_CONCURRENCY: '1' })
  const done = await Promise.all(submitted.map(({ id }) => reach(idle.client, id, 'succeeded')))
  t.same(done.sort((a, b) => a.updated_at < b.updated_at ? -1 : 1).map(job => job.priority), [10, 5, 1, 0])
})

t.test('a job with delay_ms is not run before it is due', async t => {
  const job = await submit(client, { type: 'agentcli.echo', delay_ms: 1_500 })
  t.equal(job.status, 'queued')
  const done = await reach(client, job.id, 'succeeded')
  t.ok(Date.parse(done.updated_at) - Date.parse(done.created_at) >= 1_500, `${done.created_at} to ${done.updated_at}`)
})

t.test('X26, RC32 a temporary failure is tried again after growing pauses; any other is final', async t => {
  const failing = await submit(client, { type: 'agentcli.fail', input: { stderr: 'sorry' }, max_attempts: 3 })
  const once = await submit(client, { type: 'agentcli.fail', input: { stderr: 'sorry' } })
  const slow = await submit(client, { type: 'agentcli.nap', input: { ms: 10_000 }, timeout_sec: 1, max_attempts: 3 })
  const missing = await submit(client, { type: 'agentcli.absent', max_attempts: 3 })
  t.match(await reach(client, once.id, 'failed'), { attempts: 1, error: { code: 'TOOL_FAILED', message: 'sorry' } })
  t.match(await reach(client, slow.id, 'failed'), { attempts: 1, error: { code: 'TOOL_TIMEOUT' } })
  t.match(await reach(client, missing.id, 'failed'), { attempts: 1, error: { code: 'TOOL_UNAVAILABLE' } })
  const failed = await reach(client, failing.id, 'failed')
  t.match(failed, { attempts: 3, error: { code: 'TOOL_FAILED', message: 'sorry' } })
  t.ok(Date.parse(failed.updated_at) - Date.parse(failed.created_at) >= 1_500, 'the pauses were at least 0.5 and 1 s')
})

t.test('RC6 whoami describes the key', async t => {
  const whoami = async (key: string): Promise<unknown> => (await client.request('/v1/auth/whoami', { key })).body
  t.same(await whoami(testKeys.admin), { ok: true, auth: { name: 'admin', role: 'admin', sse: true, can_write: true, can_approve: true, queue_allowlist: null } })
  t.same(await whoami(testKeys.read), { ok: true, auth: { name: 'reader', role: 'read', sse: true, can_write: false, can_approve: false, queue_allowlist: null } })
  t.same(await whoami(testKeys.limited), { ok: true, auth: { name: 'limited', role: 'admin', sse: true, can_write: true, can_approve: true, queue_allowlist: ['allowed'] } })
})
