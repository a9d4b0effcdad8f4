import { Toolyard } from '@toolyard/client'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { freePort } from '../support/redis-process.ts'
import { createService, testKeys } from '../support/service.ts'
import { clientFiles, clientTools } from './tools.ts'

const askTwice = `#!/bin/sh
if [ "$([ -z "$TOOLYARD_ANSWER" ] || wc -l < "$TOOLYARD_ANSWER")" = 2 ]; then echo '{}'; exit; fi
echo '{"$ask": {"text": "Sure?", "schema": {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}}}'
`
const service = await createService(t, {
  tools: [...clientTools, { name: 'ask_twice', description: 'Asks twice', schema: { type: 'object' }, command: ['./tools/bin/ask_twice'], asks: true }],
  files: { ...clientFiles, 'tools/bin/ask_twice': askTwice },
  env: { SECRETS_KEY: '07'.repeat(32) }
})
const place = (name: string): string => join(service.dir, 'workspace', name)

/** Between the client and the service: it may fail a request before or after it was served. */
type Fault = (send: () => Promise<Response>) => Promise<Response>

interface Tried { toolyard: Toolyard, keys: Array<string | null> }

/** A client whose first requests meet these faults, one each. */
function through (...faults: Fault[]): Tried {
  const keys: Array<string | null> = []
  const left = [...faults]
  const fetched: typeof fetch = async (input, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'))
    const send = async (): Promise<Response> => await fetch(input, init)
    return await (left.shift() ?? (async pass => await pass()))(send)
  }
  return { toolyard: new Toolyard({ url: service.api.address, apiKey: testKeys.admin, fetch: fetched, retryMs: 5_000 }), keys }
}

const answerLost: Fault = async send => {
  await (await send()).text()
  throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })
}
const refused: Fault = async () => { throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }) }
const answering = (status: number, code: string, headers: Record<string, string> = {}): Fault => async () => (
  Response.json({ ok: false, error: { code, message: 'not now' } }, { status, headers })
)

t.test('a call whose answer is lost is sent again with the same key, and runs once', async t => {
  await writeFile(place('once'), '')
  const { toolyard, keys } = through(answerLost, refused)
  t.strictSame(await toolyard.call('wait_for', { file: place('once') }), { saw: place('once') })
  t.equal(keys.length, 3)
  t.strictSame([...new Set(keys)].length, 1)
  t.match(keys[0], /^[0-9a-f]{32}$/)
  t.equal(await readFile(place('once.runs'), 'utf8'), 'x')
})

t.test('two calls have two keys, and a caller may set its own', async t => {
  const { toolyard, keys } = through()
  await toolyard.call('add', { a: 1, b: 2 })
  await toolyard.call('add', { a: 1, b: 2 })
  await toolyard.call('add', { a: 1, b: 2 }, { idempotencyKey: 'mine' })
  t.not(keys[0], keys[1])
  t.equal(keys[2], 'mine')
})

t.test('a job whose answer is lost is submitted once', async t => {
  const { toolyard } = through(answerLost)
  const job = await toolyard.jobs.submit({ type: 'agentcli.add', input: { a: 1, b: 2 }, tags: ['lost-answer'] })
  t.strictSame((await toolyard.jobs.list({ tag: 'lost-answer' })).jobs.map(({ id }) => id), [job.id])
})

t.test('a cancel whose answer is lost is sent again, and succeeds', async t => {
  const job = await through().toolyard.jobs.submit({ type: 'agentcli.wait_for', input: { file: place('cancelled') } })
  t.equal((await through(answerLost).toolyard.cancel(job)).status, 'cancelled')
})

t.test('what is removed or promoted, and whose answer is lost, is done', async t => {
  const { jobs, secrets, files } = through().toolyard
  const submit = async (rest: object = {}): Promise<string> => (await jobs.submit({ type: 'agentcli.add', input: { a: 1, b: 2 }, ...rest })).id
  const later = await submit({ delay_ms: 3_600_000 })
  t.notMatch((await through(answerLost).toolyard.jobs.promote(later)).status, 'held')
  for await (const event of through().toolyard.follow(later)) if (event.type === 'end') t.equal(event.job.status, 'succeeded')
  await through(answerLost).toolyard.jobs.remove(later)
  await t.rejects(jobs.get(later), { code: 'NOT_FOUND' })
  await t.rejects(jobs.remove(later), { code: 'NOT_FOUND' })
  await secrets.set('LOST', 'a value')
  await through(answering(503, 'UNAVAILABLE'), answerLost).toolyard.secrets.remove('LOST')
  await t.rejects(through(answering(429, 'RATE_LIMITED', { 'retry-after': '0' })).toolyard.secrets.remove('LOST'), { code: 'NOT_FOUND' }, 'a request that was refused removed nothing')
  await files.put('lost.txt', 'text')
  await through(answerLost).toolyard.files.remove('lost.txt')
  await t.rejects(files.remove('lost.txt'), { code: 'NOT_FOUND' })
})

t.test('an answer whose answer is lost is sent again, and answers no later question', async t => {
  const { jobs } = through().toolyard
  const { id } = await jobs.submit({ type: 'agentcli.ask_twice', input: {} })
  const asks = async (number: number): Promise<void> => { await waitFor(`question ${number}`, async () => (await jobs.get(id)).question?.number === number) }
  await asks(1)
  const lostUntilTheNext: Fault = async send => {
    const sent = await send()
    await asks(2)
    return await answerLost(async () => sent)
  }
  await through(async send => await send(), lostUntilTheNext).toolyard.jobs.answer(id, { sure: true })
  t.equal((await jobs.get(id)).question?.number, 2, 'nobody has answered it')
  const lostUntilTheEnd: Fault = async send => {
    const sent = await send()
    await waitFor('the end', async () => (await jobs.get(id)).status === 'succeeded')
    return await answerLost(async () => sent)
  }
  t.equal((await through(lostUntilTheEnd).toolyard.jobs.answer(id, { sure: false }, { number: 2 })).status, 'succeeded')
  await t.rejects(jobs.answer(id, { sure: true }, { number: 2 }), { code: 'CONFLICT' }, 'another answer is refused')
  await t.rejects(jobs.answer(id, { sure: true }), { code: 'CONFLICT', message: 'The job asks nothing: it is succeeded' })
})

t.test('429 and 503 are tried again after the time that Retry-After says', async t => {
  const { toolyard, keys } = through(answering(429, 'RATE_LIMITED', { 'retry-after': '1' }), answering(503, 'UNAVAILABLE', { 'retry-after': '0' }), async () => new Response('Bad Gateway', { status: 502 }))
  const started = performance.now()
  t.strictSame(await toolyard.call('add', { a: 1, b: 2 }), { sum: 3 })
  t.ok(performance.now() - started >= 990)
  t.equal(keys.length, 4)
})

t.test('a request is not repeated for another status, a wait longer than retryMs, and an answer that is not from Toolyard', async t => {
  for (const [fault, match] of [
    [answering(503, 'AUTH_NOT_CONFIGURED'), { code: 'AUTH_NOT_CONFIGURED', status: 503 }],
    [answering(500, 'INTERNAL'), { code: 'INTERNAL', status: 500 }],
    [answering(409, 'IDEMPOTENCY_CONFLICT'), { code: 'IDEMPOTENCY_CONFLICT', status: 409 }],
    [answering(429, 'RATE_LIMITED', { 'retry-after': '60' }), { code: 'RATE_LIMITED', status: 429, retryAfterMs: 60_000 }],
    [async () => new Response('<html>Sign in</html>'), { code: 'BAD_ANSWER', status: 200, message: /<html>Sign in/ }]
  ] as Array<[Fault, { code: string, status: number }]>) {
    const { toolyard, keys } = through(fault)
    await t.rejects(toolyard.tools(), match)
    t.equal(keys.length, 1)
  }
})

t.test('the client gives up after retryMs when the service stays away, and the error has the reason', async t => {
  const port = await freePort()
  await t.rejects(new Toolyard({ url: `http://127.0.0.1:${port}`, retryMs: 300 }).tools(), { name: 'ToolyardError', code: 'UNREACHABLE', status: undefined, message: new RegExp(`at http://127.0.0.1:${port}: .*ECONNREFUSED`) })
})

t.test('a follower whose stream breaks off resumes after the last line that it got', async t => {
  const cutAfterLog: Fault = async send => {
    const response = await send()
    let text = ''
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        text += new TextDecoder().decode(chunk)
        controller.enqueue(chunk)
        if (text.includes('began')) controller.error(new Error('cut off'))
      }
    })
    return new Response(response.body?.pipeThrough(cut) ?? null, { status: response.status, headers: response.headers })
  }
  const job = await through().toolyard.jobs.submit({ type: 'agentcli.wait_for', input: { file: place('cut') } })
  const { toolyard } = through(refused, cutAfterLog, answering(503, 'UNAVAILABLE'), cutAfterLog)
  const types: string[] = []
  const lines: string[] = []
  for await (const event of toolyard.follow(job)) {
    types.push(event.type)
    if (event.type === 'log') lines.push(event.entry.message)
    if (event.type === 'state' && event.job.status === 'running') await writeFile(place('cut'), '')
  }
  t.strictSame(lines.filter(line => ['began', 'saw it'].includes(line)), ['began', 'saw it'])
  t.strictSame(types.filter(type => type === 'end'), ['end'])
})

t.test('an invalid address is refused at once', async t => {
  t.throws(() => new Toolyard({ url: 'localhost:3001' }), { name: 'TypeError', message: /http:\/\/ or https:\/\// })
})
