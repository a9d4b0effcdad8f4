import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { reach } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { rawSession } from './asked-clients.ts'
import { connect, meta, rpc, type RpcOptions } from './clients.ts'

const { keys, API_KEYS_JSON } = makeKeys({ approver: { role: 'approver' } })
const properties = { seat: { enum: ['aisle', 'window'] }, meal: { oneOf: [{ const: 'a', title: 'Apples' }] }, row: { type: 'integer' } }
const flat = { type: 'object', properties, required: ['seat'] }
const nested = { type: 'object', properties: { seats: { type: 'array', items: { type: 'object' } } } }
/** Asks with these schemas, one after the other, and gives out all answers then. */
const asking = (...schemas: object[]): string => `#!/bin/sh
cat > /dev/null
given=$( [ -z "$TOOLYARD_ANSWER" ] && echo 0 || wc -l < "$TOOLYARD_ANSWER" )
case "$given" in
${schemas.map((schema, at) => `${at}) echo '${JSON.stringify({ $ask: { text: `Question ${at + 1}?`, schema } })}';;`).join('\n')}
*) tail -n 1 "$TOOLYARD_ANSWER";;
esac
`
const entry = (name: string, rest: object = {}): object => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], asks: true, ...rest })
const { client: http, api, dir, startApi } = await createService(t, {
  files: {
    'tools/bin/book': asking(flat),
    'tools/bin/two': asking(flat, flat),
    'tools/bin/then_nested': asking(flat, nested),
    'tools/bin/odd': asking({ type: 'object', properties: { host: { type: 'string', format: 'hostname' } } }),
    'tools/bin/guarded': asking(flat),
    'tools/bin/letter': asking(flat),
    'tools/bin/menu': asking(flat),
    'tools/bin/locked': asking(flat)
  },
  tools: [
    entry('book'), entry('two'), entry('then_nested'), entry('odd'), entry('guarded', { approval: 'required' }),
    entry('letter', { publishAs: 'prompt' }), entry('menu', { publishAs: { uri: 'menu://today' } }),
    entry('locked', { publishAs: 'prompt', approval: 'required' })
  ],
  env: { API_KEYS_JSON }
})
const forms = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }

async function call (name: string, params: object = {}, signal?: AbortSignal): Promise<Record<string, unknown>> {
  const options = { key: testKeys.admin, meta: forms, ...signal !== undefined && { signal } }
  return (await rpc(api.address, 'tools/call', { name, arguments: {}, ...params }, options)).body.result ?? {}
}

const accepted = (state: unknown, content: object): object => ({ requestState: state, inputResponses: { answer: { action: 'accept', content } } })

t.test('a choice without a type is asked for by a form, with the type that forms must have', async t => {
  const asked = await call('book')
  t.match(asked, {
    resultType: 'input_required',
    inputRequests: { answer: { params: { requestedSchema: { properties: { seat: { type: 'string', enum: ['aisle', 'window'] }, meal: { type: 'string' } } } } } }
  })
  t.match(await call('book', accepted(asked['requestState'], { seat: 'aisle' })), { structuredContent: { seat: 'aisle' } })
})

t.test('a schema that no form has is asked for by a text', async t => {
  t.match(await call('odd'), { isError: true, _meta: { 'toolyard/error': { code: 'INPUT_REQUIRED' } } })
})

t.test('a later question that fits into no form is told as a text with its job', async t => {
  const asked = await call('then_nested')
  const later = await call('then_nested', accepted(asked['requestState'], { seat: 'aisle' }))
  t.match(later, { isError: true, content: [{ text: /waits for an answer to its question/ }], _meta: { 'toolyard/error': { code: 'INPUT_REQUIRED' } } })
  const { 'toolyard/job_id': id } = later['_meta'] as Record<string, string>
  t.match(await reach(http, id ?? '', 'input_required'), { question: { number: 2, text: 'Question 2?' } })
})

t.test('a call that is held again after an answer says so, and is not waited for', async t => {
  const { 'toolyard/job_id': id = '' } = (await call('guarded'))['_meta'] as Record<string, string>
  await http.decide(await http.held(id), 'approve', { key: keys.approver })
  await reach(http, id, 'input_required')
  await writeFile(join(dir, 'tools/bin/guarded'), `${asking(flat)}# changed\n`)
  const again = await call('guarded', accepted(`${id}.1`, { seat: 'aisle' }))
  t.match(again, { isError: true, content: [{ text: /has not run.*waits until somebody approves/ }], _meta: { 'toolyard/error': { code: 'HELD' } } })
  t.match(await reach(http, id, 'held'), { approval: { changed: /./ } })
})

t.test('a client of 2025', async t => {
  const other = await startApi()
  const seat = async (t: Test, answers: Array<Record<string, unknown>>): Promise<{ messages: string[], result: unknown }> => {
    const { client } = await connect(t, api.address, testKeys.admin, '2025-11-25', { capabilities: { elicitation: {} } })
    const messages: string[] = []
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      messages.push(params.message)
      return answers.shift() as { action: 'accept' }
    })
    return { result: await client.callTool({ name: 'two', arguments: {} }), messages }
  }
  const said = (content: object): Record<string, unknown> => ({ action: 'accept', content })

  await t.test('is asked on the stream of its call, again where the answer does not fit, and each question of its tool', async t => {
    const { messages, result } = await seat(t, [said({ seat: 'aisle', row: 1.5 }), said({ seat: 'aisle' }), said({ seat: 'window' })])
    t.match(messages, ['Question 1?', /^Question 1\? \('answer' does not fit the question: \/row/, 'Question 2?'])
    t.match(result, { structuredContent: { seat: 'window' } })
  })

  await t.test('that declines has cancelled its call', async t => {
    t.match((await seat(t, [{ action: 'decline' }])).result, { isError: true, _meta: { 'toolyard/error': { code: 'JOB_CANCELLED' } } })
  })

  await t.test('answers at any process, and for its own session alone', async t => {
    const session = await rawSession(api.address, testKeys.admin, { elicitation: {} })
    const stranger = await rawSession(api.address, testKeys.admin, {})
    const call = await session.call(api.address, 'two')
    const first = await call.next()
    t.match(first, { method: 'elicitation/create', params: { message: 'Question 1?', requestedSchema: { properties: { seat: { type: 'string' } } } } })
    t.notOk(first.params?.['mode'], 'which clients of 2025-06-18 do not know')
    t.equal((await stranger.say(other.address, { id: first.id, result: said({ seat: 'window' }) })).status, 202)
    t.equal((await session.say(other.address, { id: 'unknown', result: {} })).status, 202)
    t.equal((await session.say(other.address, { id: first.id, result: said({ seat: 'aisle' }) })).status, 202)
    const second = await call.next()
    t.match(second, { method: 'elicitation/create', params: { message: 'Question 2?' } })
    const given = '{"seat":"aisle","row":1152921504606846977}'
    await session.say(other.address, `{"jsonrpc":"2.0","id":"${String(second.id)}","result":{"action":"accept","content":${given}}}`)
    t.match(await call.next(), { id: 'call', result: { content: [{ text: given }] } }, 'with its number as it was written')
  })

  await t.test('hears that it needs not answer any more when somebody else has', async t => {
    const session = await rawSession(api.address, testKeys.admin, { elicitation: { form: {} } })
    const call = await session.call(api.address, 'book')
    const { id } = await call.next()
    const { body: { jobs: [job] } } = await http.request<{ jobs: Array<{ id: string }> }>('/v1/jobs?status=input_required&tool=book')
    await http.request(`/v1/jobs/${job?.id ?? ''}/answer`, { body: { answer: { seat: 'window' } } })
    t.match(await call.next(), { method: 'notifications/cancelled', params: { requestId: id } })
    t.match(await call.next(), { result: { structuredContent: { seat: 'window' } } })
  })

  await t.test('that can not ask after all, or has not said that it can, gets the text', async t => {
    const session = await rawSession(api.address, testKeys.admin, { elicitation: {} })
    const call = await session.call(api.address, 'book')
    const { id } = await call.next()
    await session.say(api.address, { id, error: { code: -32_601, message: 'Method not found' } })
    t.match(await call.next(), { result: { isError: true, _meta: { 'toolyard/error': { code: 'INPUT_REQUIRED' } } } })
    const silent = await rawSession(api.address, testKeys.admin, {})
    t.match(await (await silent.call(api.address, 'book')).next(), { result: { _meta: { 'toolyard/error': { code: 'INPUT_REQUIRED' } } } })
  })
})

t.test('a question that a client comes to by job_result is answered under that name', async t => {
  const [id] = String((await call('book'))['requestState']).split('.')
  const later = { name: 'job_result', arguments: { job_id: id } }
  const asked = await call('job_result', later)
  t.match(asked, { resultType: 'input_required', requestState: `${id}.1` })
  t.match(await call('job_result', { ...later, ...accepted(asked['requestState'], { seat: 'aisle' }) }), { structuredContent: { seat: 'aisle' } })
})

t.test('a prompt and a resource ask as calls do', async t => {
  const options = { key: testKeys.admin, meta: forms }
  const get = async (method: string, params: Record<string, unknown>, about: RpcOptions = options): Promise<Record<string, unknown>> => {
    const { body: { result, error } } = await rpc(api.address, method, params, about)
    return result ?? { error }
  }
  for (const [method, params, given] of [
    ['prompts/get', { name: 'letter' }, { messages: [{ content: { text: '{"seat":"aisle"}' } }] }],
    ['resources/read', { uri: 'menu://today' }, { contents: [{ uri: 'menu://today', text: '{"seat":"aisle"}' }] }]
  ] as const) {
    const asked = await get(method, params)
    t.match(asked, { resultType: 'input_required', inputRequests: { answer: { method: 'elicitation/create' } } })
    const again = await get(method, { ...params, ...accepted(asked['requestState'], { seat: 'roof' }) })
    t.match(again, { resultType: 'input_required', inputRequests: { answer: { params: { message: /does not fit/ } } } })
    t.match(await get('prompts/get', { name: 'locked', ...accepted(asked['requestState'], { seat: 'aisle' }) }), { error: { code: -32_602, message: /another request/ } })
    t.match(await get(method, { ...params, ...accepted(asked['requestState'], { seat: 'aisle' }) }), given)
    t.match(await get(method, params, { ...options, meta }), { error: { message: /The tool asks.*waits for an answer|waits for an answer/s, data: { code: 'INPUT_REQUIRED', job_id: /./ } } })
  }
  t.match(await get('prompts/get', { name: 'locked' }), { error: { message: /has not run/, data: { code: 'HELD' } } })

  const { client } = await connect(t, api.address, testKeys.admin, '2025-11-25', { capabilities: { elicitation: {} } })
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { seat: 'window' } }))
  t.match(await client.getPrompt({ name: 'letter' }), { messages: [{ content: { text: '{"seat":"window"}' } }] })
  t.match(await client.readResource({ uri: 'menu://today' }), { contents: [{ text: '{"seat":"window"}' }] })
})

t.test('a client that leaves while its answered call runs has cancelled it', async t => {
  await writeFile(join(dir, 'tools/bin/book'), asking(flat).replace('*) ', '*) sleep 30; '))
  const asked = await call('book')
  const [id = ''] = String(asked['requestState']).split('.')
  const leaving = new AbortController()
  const going = call('book', accepted(asked['requestState'], { seat: 'aisle' }), leaving.signal).catch(() => {})
  await waitFor('it runs again', async () => (await http.request<{ job: { attempts: number, status: string } }>(`/v1/jobs/${id}`)).body.job.attempts === 2)
  leaving.abort()
  await going
  await reach(http, id, 'cancelled')
})
