import type { JobTypeList, ToolList } from '@toolyard/contract'
import t from 'tap'
import { createClient, type Answer } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'
import { post, reach, submit } from '../jobs/submission.ts'

const { API_KEYS_JSON } = makeKeys({ limited: { name: 'reader', permissions: ['read_repo'] } })
const service = await createService(t, { files: programs, tools: entries, workers: 2 })
const { client } = service
/** An API process with another key, and with a tool that the worker's settings refuse. */
const otherApi = await service.startApi({
  API_KEYS_JSON,
  TOOL_EXEC_ENABLED: '1',
  TOOL_EXEC_ALLOWLIST: 'ls'
})
const other = createClient(otherApi.address, testKeys.admin)

const patch = async (name: string, body: unknown, key: string = testKeys.admin): Promise<Answer> => await client.request(`/v1/job-types/${name}`, { method: 'PATCH', body, key })
const names = async (of = client): Promise<string[]> => (await of.request<ToolList>('/v1/agent-tools')).body.tools.map(tool => tool.function.name)

t.test('RC29, RC30, X23 every tool has a job type with its defaults', async t => {
  const { body } = await client.request<JobTypeList>('/v1/job-types', { key: testKeys.read })
  t.equal(body.count, body.types.length)
  const of = (name: string): unknown => body.types.find(type => type.name === name)
  t.same(of('data.file_read'), { name: 'data.file_read', enabled: true, handler: 'builtin:data.file_read', default_timeout_sec: 30, default_max_attempts: 1 })
  t.match(of('tools.file_search'), { default_timeout_sec: 45 })
  t.same(of('agentcli.nap'), { name: 'agentcli.nap', enabled: true, handler: 'builtin:manifest.agentcli', default_timeout_sec: 20, default_max_attempts: 1 })
  t.match(of('agentcli.off'), { enabled: false })
})

t.test('RC29 a bad patch is refused in the documented words, and changes nothing', async t => {
  const integer = "'default_timeout_sec' must be integer 1..3600"
  const cases: Array<[unknown, string | RegExp]> = [
    [{}, 'No updatable fields provided'], [[], 'Request body must be an object'],
    ...['no', 1, 0, null].map((enabled): [unknown, string] => [{ enabled }, "'enabled' must be a boolean"]),
    ...[0, 3_601, '30', 1.5, null].map((value): [unknown, string] => [{ default_timeout_sec: value }, integer]),
    ...[0, 11].map((value): [unknown, string] => [{ default_max_attempts: value }, "'default_max_attempts' must be integer 1..10"]),
    ...[-1, 65, 1.5, '4', true, null].map((warm): [unknown, string] => [{ warm }, "'warm' must be integer 0..64 or \"auto\""]),
    ...['yes', 1, null].map((idempotent): [unknown, string] => [{ idempotent }, "'idempotent' must be a boolean"]),
    [{ enabled: false, handler: 'builtin:other' }, /^'handler' is not a known field/], [{ enabled: false, name: 'x' }, /^'name' is not a known field/]
  ]
  for (const [body, message] of cases) {
    const answer = await patch('agentcli.echo', body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.match(answer.body, { error: { code: 'VALIDATION_ERROR', message } })
  }
  const unknown = await patch('agentcli.nothing', { enabled: true })
  t.equal(unknown.status, 404)
  t.same(unknown.body, { ok: false, error: { code: 'NOT_FOUND', message: 'Job type not found' }, request_id: unknown.headers.get('x-request-id') })
  t.equal((await patch('agentcli.echo', { enabled: false }, testKeys.read)).status, 403)
  t.equal((await client.call('echo')).ok, true)
})

t.test('RC29 a key that is bound to queues, or may not call the tool, can\'t switch a type for all keys', async t => {
  const bound = await patch('agentcli.echo', { enabled: false }, testKeys.limited)
  t.equal(bound.status, 403)
  t.match(bound.body, { error: { code: 'FORBIDDEN', message: /bound to queues/ } })
  const reader = createClient(otherApi.address, testKeys.limited)
  const change = async (name: string): Promise<Answer> => await reader.request(`/v1/job-types/${name}`, { method: 'PATCH', body: { default_timeout_sec: 20 } })
  t.match((await change('data.write_file')).body, { error: { code: 'FORBIDDEN', details: { permissions: ['write_files'] } } })
  t.equal((await change('data.file_read')).status, 200)
})

t.test('RC29 a type that is disabled is gone from every API process within a second, and back when it is enabled', async t => {
  t.ok((await names(other)).includes('value'))
  const answer = await patch('agentcli.value', { enabled: false })
  t.equal(answer.status, 200)
  t.same(answer.body, { ok: true, type: { name: 'agentcli.value', enabled: false, handler: 'builtin:manifest.agentcli', default_timeout_sec: 30, default_max_attempts: 1 } })
  t.notOk((await names()).includes('value'))
  await waitFor('the other API process knows', async () => !(await names(other)).includes('value'), 1_000)
  for (const api of [client, other]) t.same((await api.call('value')).error, { code: 'JOB_TYPE_DISABLED', message: "Job type 'agentcli.value' is disabled" })
  await patch('agentcli.value', { enabled: true })
  await waitFor('the other API process knows', async () => (await names(other)).includes('value'), 1_000)
  await waitFor('the workers know', async () => (await other.call('value', { text: 'x' })).ok, 1_500)
})

t.test('a type that its manifest disables can be enabled', async t => {
  await patch('agentcli.off', { enabled: true })
  t.ok((await names()).includes('off'))
  await waitFor('the workers know', async () => (await client.call('off', { on: 1 })).ok, 1_500)
})

t.test('processes kept ready are switched for commands, and refused for others, since these have their arguments at the start', async t => {
  t.match((await patch('agentcli.value', { warm: 'auto' })).body, { type: { warm: 'auto' } })
  t.match((await patch('agentcli.value', { warm: 0 })).body, { type: { warm: 0 } })
  const refused = await patch('data.file_read', { warm: 1 })
  t.equal(refused.status, 400)
  t.match(refused.body, { error: { code: 'VALIDATION_ERROR', message: /^'warm' is for commands/ } })
})

t.test('when a type is disabled, its waiting jobs fail', async t => {
  const job = await submit(client, { type: 'agentcli.big', input: { char: 'x', count: 3 }, delay_ms: 1_200, max_attempts: 3 })
  await patch('agentcli.big', { enabled: false })
  t.match(await reach(client, job.id, 'failed'), { attempts: 1, error: { code: 'JOB_TYPE_DISABLED', message: "Job type 'agentcli.big' is disabled" } })
})

t.test('RC29, X8 the defaults of a type count when neither the request nor the manifest says otherwise', async t => {
  t.match((await patch('agentcli.fail', { default_timeout_sec: 17, default_max_attempts: 2 })).body, { type: { default_timeout_sec: 17, default_max_attempts: 2 } })
  t.match(await submit(client, { type: 'agentcli.fail', delay_ms: 60_000 }), { timeout_sec: 17, max_attempts: 2 })
  t.match(await submit(client, { type: 'agentcli.fail', delay_ms: 60_000, timeout_sec: 3, max_attempts: 1 }), { timeout_sec: 3, max_attempts: 1 })
  await patch('agentcli.nap', { default_timeout_sec: 3_000 })
  t.match(await submit(client, { type: 'agentcli.nap', delay_ms: 60_000 }), { timeout_sec: 20 }, 'the manifest wins')
  const { results: [result] } = await client.batch([{ call_id: 'a', name: 'fail' }], { mode: 'async' })
  t.match(await reach(client, result?.job_id ?? '', 'failed'), { timeout_sec: 17, max_attempts: 2, attempts: 2 }, 'also for calls of a batch')
})

t.test('X22, R11 a built-in tool that the settings refuse stays refused when its type is enabled, in a batch and as a job', async t => {
  t.equal((await patch('tool.exec', { enabled: true })).status, 200)
  t.match(await client.call('tool_exec', { command: 'ls' }), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /settings of this deployment do not allow it/ } })
  t.match(await post(client, { type: 'tool.exec', input: { command: 'ls' } }), { status: 409, body: { error: { code: 'CONFLICT', message: /settings of this deployment/ } } })
  t.notOk((await names()).includes('tool_exec'))
})

t.test('X22 a worker refuses a built-in tool that its own settings refuse, whatever the API accepted', async t => {
  t.match(await other.call('tool_exec', { command: 'ls' }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

t.test('a switched type stays switched for processes that start later', async t => {
  const late = createClient((await service.startApi()).address, testKeys.admin)
  t.notOk((await names(late)).includes('big'))
})
