import type { JobView } from '@toolyard/contract'
import t from 'tap'
import { cancel, reach } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { meta, rpc } from './clients.ts'

const { keys, API_KEYS_JSON } = makeKeys({ read: {}, other: { tenant: 'other' } })
const schema = { type: 'object', properties: { x: { type: 'string' } } }
const form = (name: string): object => ({ name, text: `${name}?`, schema })
const odd = ['constructor', 'toString', 'valueOf', 'hasOwnProperty']
/** Asks what the number of answers says, and gives out all answers. */
const program = (rounds: object): string => `#!/bin/sh
cat > /dev/null
count=$( [ -z "$TOOLYARD_ANSWER" ] && echo 0 || wc -l < "$TOOLYARD_ANSWER" )
case $((count)) in
${Object.entries(rounds).map(([count, ask]) => `${count}) echo '${JSON.stringify({ $ask: ask as unknown })}' ;;`).join('\n')}
*) paste -sd, "$TOOLYARD_ANSWER" | sed 's/.*/{"said":[&]}/' ;;
esac
`
const service = await createService(t, {
  files: {
    'tools/bin/odd': program({ 0: odd.map(form) }),
    'tools/bin/rounds': program({ 0: [form('a'), form('b')], 2: [form('a'), form('b')] }),
    'tools/bin/pair': program({ 0: [form('a'), form('b')] })
  },
  tools: ['odd', 'rounds', 'pair'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], asks: true, timeoutSec: 60 })),
  env: { API_KEYS_JSON }
})
const { client: http, api } = service
const capabilities = { elicitation: {} }
const tasks = { ...capabilities, extensions: { 'io.modelcontextprotocol/tasks': {} } }
type Answer = Record<string, unknown> & { inputRequests?: object, requestState?: string }

async function send (
  method: string, params: Record<string, unknown>, key: string = testKeys.admin, can: object = capabilities
): Promise<Answer> {
  const about = { ...meta, 'io.modelcontextprotocol/clientCapabilities': can }
  const { result, error } = (await rpc(api.address, method, params, { key, meta: about })).body
  return result ?? { error }
}
const call = async (name: string, params: object = {}, key?: string): Promise<Answer> => await send('tools/call', { name, arguments: {}, ...params }, key)
const filled = (x: string): object => ({ action: 'accept', content: { x } })
const stateOf = ({ requestState = '' }: Answer): string => requestState
const idOf = (answer: Answer): string => stateOf(answer).split('.')[0] ?? ''
const namesOf = ({ inputRequests = {} }: Answer): string[] => Object.keys(inputRequests)
const jobOf = async (id: string): Promise<JobView> => (await http.request<{ job: JobView }>(`/v1/jobs/${id}`)).body.job

t.test('questions with names that all objects have are asked and answered as any other', async t => {
  const asked = await call('odd')
  t.same(namesOf(asked), odd)
  const some = await call('odd', { requestState: stateOf(asked), inputResponses: { toString: filled('2') } })
  t.same(namesOf(some), odd.filter(name => name !== 'toString'))
  const rest = { constructor: filled('1'), valueOf: filled('3'), hasOwnProperty: filled('4') }
  t.match(await call('odd', { requestState: stateOf(some), inputResponses: rest }), { structuredContent: { said: ['1', '2', '3', '4'].map(x => ({ x })) } })
})

t.test('an update of a task without an answer to such a question refuses nothing', async t => {
  const asked = await call('odd')
  const taskId = idOf(asked)
  await send('tasks/update', { taskId, inputResponses: {} }, testKeys.admin, tasks)
  const shown = await send('tasks/get', { taskId }, testKeys.admin, tasks)
  t.same(namesOf(shown), odd.map((name, place) => place === 0 ? name : `${name} ${place + 1}`))
})

t.test('an answer that came too late for its question is not taken for one of the next questions with its name', async t => {
  const asked = await call('rounds')
  const id = idOf(asked)
  t.equal((await http.request(`/v1/jobs/${id}/answer`, { body: { answer: { x: 'http' }, number: 1 } })).status, 200)
  const both = { requestState: stateOf(asked), inputResponses: { a: filled('1'), b: filled('2') } }
  const next = await call('rounds', both)
  t.match(next, { resultType: 'input_required', requestState: /\.3,4$/ })
  t.same(namesOf(next), ['a', 'b'])
  t.match(await call('rounds', both), { resultType: 'input_required', requestState: /\.3,4$/ }, 'the same state again answers nothing')
  const last = { requestState: stateOf(next), inputResponses: { a: filled('3'), b: filled('4') } }
  const said = { said: ['http', '2', '3', '4'].map(x => ({ x })) }
  t.match(await call('rounds', last), { structuredContent: said })
  t.match(await call('rounds', last), { structuredContent: said }, 'the state of a call that has ended gives its result')
  t.equal((await jobOf(id)).attempts, 3)
})

t.test('answers for what was not asked change nothing, nor do states that were made up', async t => {
  const asked = await call('pair')
  const id = idOf(asked)
  const again = await call('pair', { requestState: stateOf(asked), inputResponses: { c: filled('1'), '': filled('2'), 'a 1': filled('3') } })
  t.same([namesOf(again), stateOf(again)], [['a', 'b'], stateOf(asked)])
  for (const state of ['', id, `${id}.`, `${id}.1,2,`, `${id}.1.2`, `${id}.h`, `${'x'.repeat(60_000)}.1`]) {
    t.match(await call('pair', { requestState: state, inputResponses: { a: filled('1') } }), { error: { code: -32_602, message: /requestState/ } }, state.slice(0, 60))
  }
  t.match(await call('odd', { requestState: stateOf(asked) }), { error: { message: /that of another tool/ } })
  t.match(await call('pair', { requestState: `${id}.7,8`, inputResponses: { a: filled('1'), b: filled('2') } }), { resultType: 'input_required', requestState: /\.1,2$/ })
  t.match(await jobOf(id), { status: 'input_required', attempts: 1, question: { number: 1, more: [{ number: 2 }] } })
})

t.test('the state of a call is of no use to another tenant, nor to a key that may only read', async t => {
  const asked = await call('pair')
  const id = idOf(asked)
  const answers = { requestState: stateOf(asked), inputResponses: { a: filled('1'), b: filled('2') } }
  for (const key of [keys.other, testKeys.read]) {
    t.match(await call('pair', answers, key), { error: { message: /./ } }, key)
    t.match(await send('tasks/update', { taskId: id, inputResponses: { a: filled('1'), 'b 2': filled('2') } }, key, tasks), { error: { message: /./ } }, key)
    for (const number of [1, 2]) {
      const { status } = await http.request(`/v1/jobs/${id}/answer`, { body: { answer: { x: '1' }, number }, key })
      t.equal(status, key === keys.other ? 404 : 403, key)
    }
  }
  t.match(await jobOf(id), { status: 'input_required', attempts: 1, question: { number: 1, more: [{ number: 2 }] } })
  await cancel(http, id)
  t.match(await call('pair', answers), { isError: true, _meta: { 'toolyard/error': { code: 'CANCELLED' } } })
})

t.test('the last answers of a list at two processes at once let the job go on once', async t => {
  const other = await service.startApi()
  for (let round = 0; round < 10; round++) {
    const asked = await call('pair')
    const id = idOf(asked)
    const statuses = await Promise.all([1, 2, 1, 2].map(async (number, place) => {
      const { address } = place < 2 ? api : other
      const response = await fetch(`${address}/v1/jobs/${id}/answer`, {
        method: 'POST', headers: { 'x-api-key': testKeys.admin, 'content-type': 'application/json' }, body: JSON.stringify({ answer: { x: `${place}` }, number })
      })
      return response.status
    }))
    t.same(statuses.toSorted((one, two) => one - two), [200, 200, 409, 409])
    const taken = [0, 1].map(first => ({ x: `${statuses[first] === 200 ? first : first + 2}` }))
    t.match(await reach(http, id, 'succeeded'), { attempts: 2, result: { said: taken } })
  }
})

t.test('numbers that no question has are refused, and a job that was cancelled between two answers takes none', async t => {
  const id = idOf(await call('pair'))
  for (const number of [0, -1, 3, 11, 1e9, 2 ** 53, 1.5, '2; x', null]) {
    const { status } = await http.request(`/v1/jobs/${id}/answer`, { body: { answer: { x: '1' }, number } })
    t.ok([400, 409].includes(status), `${number}: ${status}`)
  }
  t.equal((await http.request(`/v1/jobs/${id}/answer`, { body: { answer: { x: '1' }, number: 2 } })).status, 200)
  await cancel(http, id)
  const { status } = await http.request(`/v1/jobs/${id}/answer`, { body: { answer: { x: '1' }, number: 1 } })
  t.equal(status, 409)
  await waitFor('it is cancelled', async () => (await jobOf(id)).status === 'cancelled')
  t.equal((await jobOf(id)).attempts, 1)
})
