import { readFileSync } from 'node:fs'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { connect, meta, rpc, type RpcAnswer } from './clients.ts'

const form = { type: 'object', properties: { seat: { type: 'string', enum: ['aisle', 'window'] } }, required: ['seat'] }
const asking = `sleep 1; if [ -z "$TOOLYARD_ANSWER" ]; then echo '{"$ask":{"name":"seat","text":"Which?","schema":${JSON.stringify(form)}}}'; else cat "$TOOLYARD_ANSWER"; fi`

const fields = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`f${at}`, { type: 'string', maxLength: 3 }]))
const survey = JSON.stringify({ $ask: { text: 'Which?', schema: { type: 'object', properties: fields } } })

const { client: http, api, startApi } = await createService(t, {
  files: programs,
  tools: [
    ...entries,
    { name: 'fail_late', schema: { type: 'object' }, command: ['/bin/sh', '-c', 'sleep 1; echo too late >&2; exit 3'] },
    { name: 'confirm', schema: { type: 'object' }, command: ['/bin/sh', '-c', asking], asks: true },
    { name: 'survey', schema: { type: 'object' }, command: ['/bin/sh', '-c', `echo '${survey}'`], asks: true },
    { name: 'quick', schema: { type: 'object' }, command: ['./tools/bin/nap'], timeoutSec: 5 }
  ]
})
const other = await startApi()
const key = testKeys.admin
const tasks = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } }

async function call (
  name: string, args: object, about: Record<string, unknown> = tasks, path = '/mcp', with_: string = key
): Promise<Record<string, unknown>> {
  return (await rpc(api.address, 'tools/call', { name, arguments: args }, { key: with_, meta: about, path })).body.result ?? {}
}

async function task (address: string, method: 'get' | 'cancel' | 'update', taskId: unknown, with_: string = key): Promise<RpcAnswer> {
  return await rpc(
    address, `tasks/${method}`, { taskId, ...(method === 'update' ? { inputResponses: {} } : {}) }, { key: with_, meta: tasks }
  )
}

async function settled (taskId: unknown): Promise<Record<string, unknown>> {
  return await waitFor('the task ends', async () => {
    const { body: { result } } = await task(other.address, 'get', taskId)
    return result?.['status'] !== 'working' && result
  })
}

t.test('the server offers tasks only to clients of 2026', async t => {
  const { body } = await rpc(api.address, 'server/discover', {}, { key })
  t.match(body.result, { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } })
  const { client } = await connect(t, api.address, key, '2025-11-25')
  t.notOk(client.getServerCapabilities()?.extensions)
  t.notOk(client.getServerCapabilities()?.tasks)
})

t.test('a call that takes longer than a moment becomes a task, which is its job and which any process knows', async t => {
  const created = await call('nap', { ms: 5_000 })
  t.match(created, { resultType: 'task', status: 'working', ttlMs: 86_400_000, pollIntervalMs: 1_000 })
  const { body: { result: working } } = await task(other.address, 'get', created['taskId'])
  t.match(working, { resultType: 'complete', status: 'working', taskId: created['taskId'], createdAt: created['createdAt'] })
  t.match(
    await settled(created['taskId']),
    { status: 'completed', result: { structuredContent: { slept: 5_000 }, content: [{ type: 'text', text: '{"slept":5000}' }] } }
  )
  const { body } = await http.request<{ job: object }>(`/v1/jobs/${String(created['taskId'])}`)
  t.match(body.job, { status: 'succeeded', tool: 'nap' })
})

t.test('a task whose tool asks something is input_required, and goes on with what the client answers; who declines cancels it', async t => {
  const asked = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  const of = async (method: string, taskId: unknown, rest: object = {}): Promise<Record<string, unknown>> => (
    (await rpc(other.address, `tasks/${method}`, { taskId, ...rest }, { key, meta: asked })).body.result ?? {}
  )
  const waiting = async (): Promise<unknown> => {
    const { taskId } = await call('confirm', {}, asked)
    const task = await waitFor('it asks', async () => {
      const found = await of('get', taskId)
      return found['status'] === 'input_required' && found
    })
    t.match(task, { inputRequests: { seat: { method: 'elicitation/create', params: { message: 'Which?', requestedSchema: form } } } })
    return taskId
  }
  const taskId = await waiting()
  await of('update', taskId, { inputResponses: { seat: { action: 'accept', content: { seat: 'roof' } } } })
  const again = { status: 'input_required', inputRequests: { 'seat 1.1': { params: { message: /^Which\? \(.*does not fit.*\/seat/ } } } }
  t.match(await of('get', taskId), again, 'it does not fit, and no name is used twice')
  await of('update', taskId, { inputResponses: { seat: { action: 'accept', content: { seat: 'aisle' } } } })
  await of('update', taskId, { inputResponses: { other: { action: 'accept', content: { seat: 'aisle' } } } })
  t.match(await of('get', taskId), again, 'what comes under another name is passed over')
  await of('update', taskId, { inputResponses: { 'seat 1.1': 'aisle' } })
  t.match(await of('get', taskId), { inputRequests: { 'seat 1.2': { params: { message: /no answer to a form/ } } } })
  await of('update', taskId, { inputResponses: { 'seat 1.2': { action: 'accept', content: { seat: 'aisle' } } } })
  t.match(await settled(taskId), { status: 'completed', result: { structuredContent: { seat: 'aisle' } } })
  const declined = await waiting()
  await of('update', declined, { inputResponses: { seat: { action: 'decline' } } })
  t.match(await settled(declined), { status: 'cancelled' })
})

t.test('answers that take a thread to check take the same one', async t => {
  const form = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
  const threads = (): number => Number(/Threads:\s+(\d+)/.exec(readFileSync(`/proc/${api.child.pid}/status`, 'utf8'))?.[1])
  const { requestState } = await call('survey', {}, form)
  const answered = async (): Promise<unknown> => (await rpc(api.address, 'tools/call', {
    name: 'survey', arguments: {}, requestState, inputResponses: { answer: { action: 'accept', content: { f0: 'too long' } } }
  }, { key, meta: form })).body.result
  t.match(await answered(), { resultType: 'input_required', inputRequests: { answer: { params: { message: /\/f0/ } } } })
  const before = threads()
  await Promise.all(Array.from({ length: 8 }, answered))
  t.ok(threads() <= before + 2, `${before} threads, then ${threads()}`)
})

t.test('a call that ends soon is answered at once, and so is a call of a tool with a short timeout', async t => {
  // A busy machine may need longer than half a second for one.
  const soon = await waitFor('one is answered at once', async () => {
    const answer = await call('echo', { a: 1 })
    return answer['resultType'] === 'complete' && answer
  })
  t.match(soon, { structuredContent: { a: 1 } })
  t.match(await call('quick', { ms: 1_000 }), { resultType: 'complete', structuredContent: { slept: 1_000 } })
})

t.test('a client without tasks waits for its call, and may not ask for tasks', async t => {
  t.match(await call('nap', { ms: 1_000 }, meta), { resultType: 'complete', structuredContent: { slept: 1_000 } })
  for (const method of ['get', 'cancel', 'update']) {
    const answer = await rpc(api.address, `tasks/${method}`, { taskId: 'x' }, { key })
    t.match(
      answer,
      {
        status: 400,
        body: { error: { code: -32_021, data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } } } }
      },
      method
    )
  }
})

t.test('a tool that fails completes its task with an error', async t => {
  const created = await call('fail_late', {})
  t.match(
    await settled(created['taskId']),
    {
      status: 'completed',
      result: { isError: true, content: [{ text: 'too late\n\nTOOL_FAILED' }], _meta: { 'toolyard/error': { code: 'TOOL_FAILED' } } }
    }
  )
})

t.test('any process cancels a task; cancelling it again changes nothing', async t => {
  const created = await call('nap', { ms: 15_000 })
  t.match((await task(other.address, 'cancel', created['taskId'])).body.result, { resultType: 'complete' })
  t.match(await settled(created['taskId']), { status: 'cancelled' })
  t.match((await task(api.address, 'cancel', created['taskId'])).body.result, { resultType: 'complete' })
  t.match((await task(api.address, 'update', created['taskId'])).body.result, { resultType: 'complete' })
})

t.test('the end of the process that made a task changes nothing', async t => {
  const doomed = await startApi()
  const { body } = await rpc(doomed.address, 'tools/call', { name: 'nap', arguments: { ms: 700 } }, { key, meta: tasks })
  await doomed.stop('SIGKILL')
  t.match(await settled(body.result?.['taskId']), { status: 'completed', result: { structuredContent: { slept: 700 } } })
})

t.test('a task of a queue that the key may not use, or of a malformed id, is not found', async t => {
  const created = await call('nap', { ms: 700 })
  for (const method of ['get', 'cancel', 'update'] as const) {
    t.match(
      (await task(api.address, method, created['taskId'], testKeys.limited)).body.error, { code: -32_602, message: /Unknown task/ }, method
    )
  }
  for (
    const id of ['', 'x', '00000000-0000-0000-0000-000000000000', '../../etc']
  ) t.match((await task(api.address, 'get', id)).body.error, { code: -32_602 }, id)
  const own = await call('nap', { ms: 700 }, tasks, '/mcp?queue=allowed', testKeys.limited)
  t.equal((await task(api.address, 'get', own['taskId'], testKeys.limited)).body.result?.['taskId'], own['taskId'])
})

t.test('a read key may get tasks and not cancel them', async t => {
  const created = await call('nap', { ms: 700 })
  t.match((await task(api.address, 'get', created['taskId'], testKeys.read)).body.result, { taskId: created['taskId'] })
  t.match(
    await task(api.address, 'cancel', created['taskId'], testKeys.read), { status: 403, body: { error: { data: { code: 'FORBIDDEN' } } } }
  )
})
