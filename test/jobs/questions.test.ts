import type { InvokeBatchResponse, JobView } from '@toolyard/contract'
import { Approvals } from '@toolyard/queue'
import { jobKey, queueKey } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { cancel, reach, submit } from './submission.ts'

const { keys, API_KEYS_JSON } = makeKeys({ read: {}, other: { tenant: 'other' } })
const answerSchema = '{"type":"object","properties":{"seat":{"type":"string","enum":["aisle","window"]},"row":{"type":"number"}},"required":["seat"]}'
/** Asks until it has as many answers as its first argument says, then gives out what it read. */
const program = `#!/bin/sh
cat > /dev/null
echo run >&2
given=$( [ -z "$TOOLYARD_ANSWER" ] || cat "$TOOLYARD_ANSWER" )
count=$( [ -z "$given" ] && echo 0 || printf '%s\\n' "$given" | wc -l )
if [ "$count" -lt "$1" ]; then echo '{"$ask":{"text":"Which seat?","schema":${answerSchema}}}'; exit; fi
printf '{"answers":['; printf '%s\\n' "$given" | paste -sd, | tr -d '\\n'; echo ']}'
`
const command = (questions: number): string[] => ['./tools/bin/book', String(questions)]
const service = await createService(t, {
  files: {
    'tools/bin/book': program,
    // Asks what its argument `ask` says.
    // eslint-disable-next-line no-template-curly-in-string -- of the shell
    'tools/bin/any': '#!/bin/sh\n[ -n "$TOOLYARD_ANSWER" ] && exec cat "$TOOLYARD_ANSWER"\nread -r args\nprintf "%s" "{\\"\\$ask\\":${args#*\\"ask\\":}"\n',
    'tools/bin/bad': '#!/bin/sh\necho \'{"$ask":{"text":"Which?","schema":{"type":"string"}}}\'\n'
  },
  tools: [
    { name: 'book', command: command(1), asks: true },
    { name: 'twice', command: command(2), idempotent: true },
    { name: 'endless', command: command(99), asks: true },
    { name: 'silent', command: command(1) },
    { name: 'any', schema: { type: 'object' }, command: ['./tools/bin/any'], asks: true },
    { name: 'bad', command: ['./tools/bin/bad'], asks: true }
  ],
  env: { API_KEYS_JSON }
})
const { client } = service

async function call (name: string, args: object = {}): Promise<InvokeBatchResponse> {
  return await client.batch([{ call_id: 'c', name, arguments: args }])
}

async function answer (id: string, body: object, key: string = testKeys.admin): Promise<{ status: number, text: string }> {
  const { status, body: said } = await client.request(`/v1/jobs/${id}/answer`, { body, key })
  return { status, text: JSON.stringify(said) }
}

async function ask (type: string): Promise<string> {
  const { id } = await submit(client, { type: `agentcli.${type}`, input: {} })
  await reach(client, id, 'input_required')
  return id
}

t.test('a question whose patterns are too large to compile is none, and others with patterns are', async t => {
  const properties = (pattern: (at: number) => string, count: number): object => (
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type: 'string', pattern: pattern(at) }]))
  )
  const asked = async (fields: object): Promise<InvokeBatchResponse['results'][number] | undefined> => (await call('any', { ask: { text: 'Which?', schema: { type: 'object', properties: fields } } })).results[0]
  for (const large of [properties(at => `^(?:\\p{L}{30}){30}_${at}$`, 60), properties(at => `^(?:(?:a${at}_b?){30}){33}$`, 60)]) {
    t.match(await asked(large), { ok: false, error: { code: 'QUESTION_INVALID', message: /patterns are too large with all that they repeat written out/ } })
  }
  const usual = { name: { type: 'string', pattern: '^\\p{L}{1,100}$' }, code: { type: 'string', pattern: '^(?:[A-Z]{2}|[0-9]{3})(?:-[A-Z0-9]{4}){1,20}$' } }
  const result = await asked(usual)
  t.match(result, { ok: false, error: { code: 'INPUT_REQUIRED' } })
  await cancel(client, result?.job_id ?? '')
})

t.test('a tool asks something back: a batch is answered at once, and the tool runs again with the answer', async t => {
  const { results: [result], tool_messages: [message] } = await call('book')
  t.match(result, { ok: false, pending: true, error: { code: 'INPUT_REQUIRED', details: { question: { number: 1, text: 'Which seat?' } } } })
  t.match(JSON.parse(message?.content ?? ''), { message: /waits for an answer.*job_result/s })
  const id = result?.job_id ?? ''
  t.match(await reach(client, id, 'input_required'), { attempts: 1, question: { text: 'Which seat?', schema: { required: ['seat'] } } })
  t.match((await client.request('/v1/jobs?status=input_required')).body, { jobs: [{ id }] })
  t.match((await client.request('/v1/jobs/counts')).body, { states: { input_required: 1 } })
  t.match((await call('job_result', { job_id: id })).results, [{ pending: true, error: { code: 'INPUT_REQUIRED' } }])
  t.match(await answer(id, { answer: { seat: 'roof' } }), { status: 400, text: /does not fit the question: \/seat/ })
  t.match(await answer(id, { answer: 'aisle' }), { status: 400 })
  t.match(await answer(id, {}), { status: 400, text: /'answer' is missing/ })
  t.equal((await answer(id, { answer: { seat: 'aisle', row: 1e21 } })).status, 200)
  const job = await reach(client, id, 'succeeded')
  t.match(job, { attempts: 2, result: { answers: [{ seat: 'aisle' }] } })
  t.notOk(job.question)
  t.match((await call('job_result', { job_id: id })).results, [{ ok: true, output: { answers: [{ seat: 'aisle' }] } }])
  t.match(await answer(id, { answer: { seat: 'aisle' } }), { status: 409, text: /it is succeeded/ })
})

t.test('a tool that asks twice gets both answers; an answer to another question is refused, and the same again changes nothing', async t => {
  const id = await ask('twice')
  t.equal((await answer(id, { answer: { seat: 'aisle' }, number: 1 })).status, 200)
  const { question } = await waitFor('it asks again', async () => {
    const { body } = await client.request<{ job: JobView }>(`/v1/jobs/${id}`)
    return body.job.question?.number === 2 ? body.job : undefined
  })
  t.equal(question?.number, 2)
  t.match(await answer(id, { answer: { seat: 'window' }, number: 1 }), { status: 409, text: /another question/ })
  t.match(await answer(id, { answer: { seat: 'aisle' }, number: 1 }), { status: 200, text: /"number":2/ }, 'who sends it again may not have heard that it was taken')
  t.equal((await answer(id, { answer: { seat: 'window' }, number: 2 })).status, 200)
  t.match(await reach(client, id, 'succeeded'), { attempts: 3, result: { answers: [{ seat: 'aisle' }, { seat: 'window' }] } })
})

t.test('an answer that was sent before the question was there to check it is not taken for one that fits', async t => {
  const id = await ask('book')
  const redis = await connectTo(t, service.redis)
  // An answer that isn't taken needs nothing else.
  const approvals = new Approvals({ redis } as never)
  for (const number of [1, undefined]) {
    t.equal(await approvals.answer({ queue: 'default', id, tenant: undefined }, { answer: '{"seat":"roof"}', number, isChecked: false }), 'other')
  }
  t.equal((await answer(id, { answer: { seat: 'aisle' }, number: 1 })).status, 200)
  t.match(await reach(client, id, 'succeeded'), { result: { answers: [{ seat: 'aisle' }] } })
})

t.test('a job that waits for an answer can be cancelled, and is answered by the keys of its tenant alone', async t => {
  const id = await ask('book')
  t.equal((await answer(id, { answer: { seat: 'aisle' } }, keys.other)).status, 404)
  t.equal((await answer(id, { answer: { seat: 'aisle' } }, testKeys.read)).status, 403)
  await cancel(client, id)
  t.match(await answer(id, { answer: { seat: 'aisle' } }), { status: 409 })
  t.match((await client.request('/v1/jobs?status=input_required')).body, { jobs: { length: 0 } })
})

t.test('a question that nobody answers in time ends its job, and can not be answered any more', async t => {
  const id = await ask('book')
  const redis = await connectTo(t, service.redis)
  const key = jobKey('default', id)
  const asked = JSON.parse(await redis.hget(key, 'asked') ?? '') as object
  // As if the day were over: the question's end and the time when its job is due.
  await redis.hset(key, 'asked', JSON.stringify({ ...asked, ends: Date.now() - 1 }))
  await redis.zadd(queueKey('default', 'delayed'), 'XX', 0, id)
  t.match(await answer(id, { answer: { seat: 'aisle' } }), { status: 409 })
  await call('book')
  t.match(await reach(client, id, 'failed'), { error: { code: 'INPUT_EXPIRED' }, attempts: 1 })
  t.match(await answer(id, { answer: { seat: 'aisle' } }), { status: 409 })
})

t.test('a list of which one question has no answer in time ends its job', async t => {
  const { results: [result] } = await call('any', { ask: ['a', 'b'].map(name => ({ name, text: '?', schema: { type: 'object' } })) })
  const id = result?.job_id ?? ''
  t.equal((await answer(id, { answer: {}, number: 2 })).status, 200)
  const redis = await connectTo(t, service.redis)
  const asked = JSON.parse(await redis.hget(jobKey('default', id), 'asked') ?? '') as object
  await redis.hset(jobKey('default', id), 'asked', JSON.stringify({ ...asked, ends: Date.now() - 1 }))
  t.match(await answer(id, { answer: {}, number: 1 }), { status: 409, text: /time is over/ })
  await redis.zadd(queueKey('default', 'delayed'), 'XX', 0, id)
  await call('book')
  t.match(await reach(client, id, 'failed'), { error: { code: 'INPUT_EXPIRED' }, attempts: 1 })
  t.match(await answer(id, { answer: {}, number: 1 }), { status: 409 })
})

t.test('two answers at once run the tool once', async t => {
  const id = await ask('book')
  const answers = await Promise.all([1, 2, 3].map(row => answer(id, { answer: { seat: 'aisle', row } })))
  t.same(answers.map(({ status }) => status).sort(), [200, 409, 409])
  t.match(await reach(client, id, 'succeeded'), { attempts: 2, result: { answers: { length: 1 } } })
})

t.test('a tool that may not ask, asks too often or asks nothing that can be answered fails, and says why', async t => {
  t.match((await call('silent')).results, [{ error: { code: 'QUESTION_INVALID', message: /"asks": true/ } }])
  t.match((await call('bad')).results, [{ error: { code: 'QUESTION_INVALID', message: /type must be "object"/ } }])
  const id = await ask('endless')
  for (let number = 1; number <= 10; number++) {
    await waitFor(`question ${number}`, async () => (await client.request<{ job: JobView }>(`/v1/jobs/${id}`)).body.job.question?.number === number)
    t.equal((await answer(id, { answer: { seat: 'aisle' }, number })).status, 200)
  }
  t.match(await reach(client, id, 'failed'), { attempts: 11, error: { code: 'QUESTION_INVALID', message: /at most 10/ } })
})

t.test('questions at once are answered in any order, each once, and the tool runs again with the last answer', async t => {
  const schema = JSON.parse(answerSchema) as object
  const ask = ['left', 'right', 'middle'].map(name => ({ name, text: `${name}?`, schema }))
  const { results: [result] } = await call('any', { ask })
  t.match(result?.error, { code: 'INPUT_REQUIRED', details: { question: { number: 1, name: 'left', kind: 'form', more: [{ number: 2, name: 'right' }, { number: 3 }] } } })
  const id = result?.job_id ?? ''
  t.match(await answer(id, { answer: { seat: 'roof' }, number: 3 }), { status: 400 })
  t.equal((await answer(id, { answer: { seat: 'window' }, number: 3 })).status, 200)
  t.equal((await answer(id, { answer: { seat: 'window' }, number: 3 })).status, 200, 'the same again')
  t.match(await answer(id, { answer: { seat: 'aisle' }, number: 3 }), { status: 409, text: /answered before/ })
  t.match(await answer(id, { answer: { seat: 'aisle' }, number: 4 }), { status: 409, text: /another question/ })
  t.match(await reach(client, id, 'input_required'), { attempts: 1, question: { number: 1, more: [{ number: 2 }] } })
  t.equal((await answer(id, { answer: { seat: 'aisle', row: 1 } })).status, 200, 'the first that is open')
  const { question } = await reach(client, id, 'input_required')
  t.match(question, { number: 2, name: 'right' })
  t.notOk(question?.more)
  t.equal((await answer(id, { answer: { seat: 'aisle', row: 2 } })).status, 200)
  t.match(await reach(client, id, 'succeeded'), { attempts: 2, result: '{"seat":"aisle","row":1}\n{"seat":"aisle","row":2}\n{"seat":"window"}' })
})

t.test('a question to a model, or for directories, takes the answers that MCP has', async t => {
  const { results: [result] } = await call('any', { ask: [{ kind: 'sampling', params: { messages: [], maxTokens: 5 } }, { kind: 'roots' }] })
  const id = result?.job_id ?? ''
  const { question } = await reach(client, id, 'input_required')
  t.match(question, { name: 'answer', kind: 'sampling', text: /./, params: { maxTokens: 5 }, more: [{ name: 'answer_2', kind: 'roots' }] })
  const text = { type: 'text', text: 'Hi' }
  for (const content of [undefined, 'Hi', {}, { type: 'text' }, { type: 'image', data: 'x' }, { type: 'other' }, [text, {}]]) {
    t.match(await answer(id, { answer: { role: 'assistant', model: 'm', content } }), { status: 400, text: /does not fit/ })
  }
  for (const roots of [undefined, {}, [{}], [{ uri: 'https://example.com' }], ['file:///']]) t.equal((await answer(id, { answer: { roots }, number: 2 })).status, 400)
  t.match(await answer(id, { answer: { role: 'assistant', model: 'm', content: { ...text, text: 'x'.repeat(33_000) } } }), { status: 400, text: /at most 32000/ })
  t.equal((await answer(id, { answer: { role: 'assistant', model: 'm', content: [text, { type: 'tool_use', id: '1', name: 'look', input: {} }] } })).status, 200)
  t.equal((await answer(id, { answer: { roots: [] }, number: 2 })).status, 200)
  await reach(client, id, 'succeeded')
})

t.test('a list of questions that can not be asked fails the call, and the message says which and why', async t => {
  const form = { text: 'Which?', schema: { type: 'object' } }
  const prompt = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 1 }
  const faults: Array<[unknown, RegExp]> = [
    [[], /is an empty list/], [[form, 7], /'\$ask\[1\]\.text' must be/], [[{ ...form, name: 'a' }, { ...form, name: 'a' }], /two questions at once have the name a/],
    ...['', '__proto__', 'a b', 'x'.repeat(65), 'x'.repeat(10_000), 7, null].map((name): [unknown, RegExp] => [{ ...form, name }, /name' must be 1 to 64 letters/]),
    [Array.from({ length: 11 }, () => form), /at most 10 questions/], [Array.from({ length: 5_000 }, () => 1), /at most 10 questions/],
    [{ ...form, kind: 'page' }, /kind' must be form, sampling, roots/], [{ ...form, kind: '__proto__' }, /kind' must be/],
    [{ kind: 'roots', schema: form.schema }, /answers to roots are those of MCP/], [{ kind: 'sampling' }, /params' must be those of sampling/],
    [{ kind: 'sampling', params: { messages: [] } }, /don't fit sampling\/createMessage: .*maxTokens/],
    [{ kind: 'sampling', params: { ...prompt, messages: [{ role: 'system', content: 'x' }] } }, /don't fit/],
    [{ kind: 'sampling', params: { ...prompt, more: 1 } }, /don't fit/],
    [{ kind: 'sampling', params: { ...prompt, systemPrompt: 'x'.repeat(32_000) } }, /params' have more than 32000/]
  ]
  for (const [ask, message] of faults) t.match((await call('any', { ask })).results, [{ error: { code: 'QUESTION_INVALID', message } }])
})
