import type { JobView } from '@toolyard/contract'
import t from 'tap'
import { reach } from '../jobs/submission.ts'
import { createService, testKeys } from '../support/service.ts'
import { rawSession } from './asked-clients.ts'
import { connect, meta, rpc } from './clients.ts'

/* Questions to a model and for directories, and several questions at once, by clients of both revisions. */

const form = { name: 'who', text: 'Who?', schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } }
const prompt = { messages: [{ role: 'user', content: { type: 'text', text: 'Hello?' } }], maxTokens: 20 }
const model = { name: 'greeting', kind: 'sampling', params: prompt }
const equipped = { name: 'equipped', kind: 'sampling', params: { ...prompt, tools: [{ name: 'look', inputSchema: { type: 'object' } }] } }
const roots = { name: 'where', kind: 'roots', text: 'Where to?' }
const asks: Record<string, unknown> = { model, equipped, roots, all: [form, model, roots], mixed: [form, model] }
const asking = (ask: unknown): string => `#!/bin/sh
cat > /dev/null
[ -n "$TOOLYARD_ANSWER" ] && { paste -sd, "$TOOLYARD_ANSWER" | sed 's/.*/{"said":[&]}/'; exit; }
echo '${JSON.stringify({ $ask: ask })}'
`
const service = await createService(t, {
  files: Object.fromEntries(Object.entries(asks).map(([name, ask]) => [`tools/bin/${name}`, asking(ask)])),
  tools: Object.keys(asks).map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], asks: true, timeoutSec: 60 }))
})
const { client: http, api, startApi } = service
const message = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
const directories = { roots: [{ uri: 'file:///work', name: 'Work' }] }
const whole = { elicitation: {}, sampling: {}, roots: {} }
const about = (capabilities: object): Record<string, unknown> => ({ ...meta, 'io.modelcontextprotocol/clientCapabilities': capabilities })

async function call (name: string, capabilities: object, params: object = {}): Promise<Record<string, unknown>> {
  const { result, error } = (await rpc(api.address, 'tools/call', { name, arguments: {}, ...params }, { key: testKeys.admin, meta: about(capabilities) })).body
  return result ?? { error }
}

t.test('a client of 2026 is asked for all at once, each by its own request, and its call goes on with the answers', async t => {
  const asked = await call('all', whole)
  t.match(asked, {
    resultType: 'input_required',
    requestState: /\.1,2,3$/,
    inputRequests: { who: { method: 'elicitation/create' }, greeting: { method: 'sampling/createMessage', params: prompt }, where: { method: 'roots/list' } }
  })
  const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } }, greeting: { ...message, _meta: { x: 1 } }, where: directories }
  t.match(await call('all', whole, { requestState: asked['requestState'], inputResponses }), { structuredContent: { said: [{ name: 'Ada' }, message, directories] } })
})

t.test('what a client leaves out or answers wrongly is asked again, and nothing else', async t => {
  const asked = await call('all', whole)
  const [id = ''] = String(asked['requestState']).split('.')
  const wrong = { who: { action: 'accept', content: { name: 7 } }, greeting: message }
  const again = await call('all', whole, { requestState: asked['requestState'], inputResponses: wrong })
  t.match(again, { requestState: /\.1,3$/, inputRequests: { who: { params: { message: /does not fit the question: \/name/ } }, where: { method: 'roots/list' } } })
  t.notOk((again['inputRequests'] as Record<string, unknown>)['greeting'])
  t.match((await http.request<{ job: JobView }>(`/v1/jobs/${id}`)).body.job.question, { number: 1, kind: 'form', more: [{ number: 3, kind: 'roots', text: 'Where to?' }] })
  // Somebody else answers one of them, and what the client says to the others counts.
  t.equal((await http.request(`/v1/jobs/${id}/answer`, { body: { answer: directories, number: 3 } })).status, 200)
  const last = await call('all', whole, { requestState: again['requestState'], inputResponses: { who: { action: 'accept', content: { name: 'Bo' } }, where: { roots: [] } } })
  t.match(last, { structuredContent: { said: [{ name: 'Bo' }, message, directories] } })
})

t.test('an answer that is none of its kind is asked for again', async t => {
  for (const [name, key, response] of [
    ['model', 'greeting', 7], ['model', 'greeting', {}], ['model', 'greeting', { ...message, content: { type: 'text' } }], ['model', 'greeting', { action: 'accept', content: {} }],
    ['roots', 'where', { roots: [{ uri: 'https://example.com' }] }], ['roots', 'where', { roots: {} }], ['roots', 'where', []]
  ] as const) {
    const asked = await call(name, whole)
    const again = await call(name, whole, { requestState: asked['requestState'], inputResponses: { [key]: response } })
    t.match(again, { resultType: 'input_required', inputRequests: { [key]: { method: /./ } } }, `${name} ${JSON.stringify(response)}`)
  }
  const many = { roots: Array.from({ length: 5_000 }, (_, at) => ({ uri: `file:///${at}` })) }
  const asked = await call('roots', whole)
  t.match(await call('roots', whole, { requestState: asked['requestState'], inputResponses: { where: many } }), { error: { message: /at most 1000 values/ } })
  const few = { roots: many.roots.slice(0, 400) }
  t.match(await call('roots', whole, { requestState: asked['requestState'], inputResponses: { where: few } }), { structuredContent: { said: [few] } })
})

t.test('a client is asked only what it says that it can; the rest is a text with the job', async t => {
  const text = { isError: true, _meta: { 'toolyard/error': { code: 'INPUT_REQUIRED' } } }
  t.match(await call('model', { elicitation: {}, roots: {} }), text)
  t.match(await call('roots', { elicitation: {}, sampling: {} }), text)
  t.match(await call('equipped', { sampling: {} }), text, 'a model without tools')
  t.match(await call('equipped', { sampling: { tools: {} } }), { inputRequests: { equipped: { params: { tools: [{ name: 'look' }] } } } })
  const asked = await call('mixed', { sampling: {} })
  t.same(Object.keys(asked['inputRequests'] as object), ['greeting'])
  const later = await call('mixed', { sampling: {} }, { requestState: asked['requestState'], inputResponses: { greeting: message } })
  t.match(later, { ...text, content: [{ text: /waits for an answer/ }] })
  const { 'toolyard/job_id': id = '' } = later['_meta'] as Record<string, string>
  await http.request(`/v1/jobs/${id}/answer`, { body: { answer: { name: 'Cy' } } })
  t.match(await reach(http, id, 'succeeded'), { result: { said: [{ name: 'Cy' }, message] } })
})

t.test('a task shows what is open, takes the answers one by one under their names, and shows a wrong one again under another', async t => {
  const capabilities = { ...whole, extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const asked = await call('all', capabilities)
  const [taskId = ''] = String(asked['requestState']).split('.')
  const of = async (method: string, rest: object = {}): Promise<Record<string, unknown>> => (
    (await rpc(api.address, `tasks/${method}`, { taskId, ...rest }, { key: testKeys.admin, meta: about(capabilities) })).body.result ?? {}
  )
  const open = async (): Promise<string[]> => Object.keys((await of('get'))['inputRequests'] as object)
  t.same(await open(), ['who', 'greeting 2', 'where 3'])
  await of('update', { inputResponses: { 'where 3': directories, 'greeting 2': { role: 'nobody' } } })
  t.same(await open(), ['who', 'greeting 2.1'])
  await of('update', { inputResponses: { 'greeting 2': message } })
  await of('update', { inputResponses: { 'greeting 2.1': message } })
  t.same(await open(), ['who'])
  await of('update', { inputResponses: { who: { action: 'accept', content: { name: 'Di' } } } })
  t.match(await reach(http, taskId, 'succeeded'), { attempts: 2, result: { said: [{ name: 'Di' }, message, directories] } })
})

t.test('a client of 2025 is asked on the stream of its call, one after the other', async t => {
  const { client } = await connect(t, api.address, testKeys.admin, '2025-11-25', { capabilities: whole })
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Ed' } }))
  client.setRequestHandler('sampling/createMessage', async ({ params }) => ({ ...message, role: 'assistant', content: { type: 'text', text: `${params.maxTokens}` } }))
  client.setRequestHandler('roots/list', async () => directories)
  t.match(await client.callTool({ name: 'all', arguments: {} }), { structuredContent: { said: [{ name: 'Ed' }, { content: { text: '20' } }, directories] } })
})

t.test('a client of 2025 answers at any process, is told by its session what it can, and gets the text where it refuses', async t => {
  const other = await startApi()
  for (const [capabilities, name, method] of [
    [{ roots: {} }, 'roots', 'roots/list'], [{ sampling: {} }, 'model', 'sampling/createMessage'],
    [{ sampling: { tools: {} }, elicitation: { url: {} } }, 'equipped', 'sampling/createMessage']
  ] as const) {
    const session = await rawSession(api.address, testKeys.admin, capabilities)
    const answers = name === 'roots' ? directories : message
    const going = await session.call(other.address, name)
    const asked = await going.next()
    t.equal(asked.method, method)
    t.equal((await session.say(api.address, { id: asked.id, result: answers })).status, 202)
    t.match(await going.next(), { result: { structuredContent: { said: [answers] } } })
    const refusing = await session.call(api.address, name)
    await session.say(other.address, { id: (await refusing.next()).id, error: { code: -1, message: 'User rejected sampling request' } })
    t.match(await refusing.next(), { result: { isError: true, _meta: { 'toolyard/error': { code: 'INPUT_REQUIRED' } } } })
    const silent = await rawSession(api.address, testKeys.admin, { elicitation: {} })
    t.match(await (await silent.call(api.address, name)).next(), { result: { _meta: { 'toolyard/error': { code: 'INPUT_REQUIRED' } } } })
  }
})
