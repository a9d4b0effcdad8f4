import { exactJson, Toolyard, ToolError, ToolyardError, type JobEvent } from '@toolyard/client'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { processorMs } from '../support/processor-time.ts'
import { createService, testKeys } from '../support/service.ts'
import { clientFiles, clientTools } from './tools.ts'

const back = { name: 'back', description: 'Gives its arguments back', schema: { type: 'object' }, command: ['/bin/cat'] }
const service = await createService(t, { tools: [...clientTools, back], files: clientFiles })
const options = { url: service.api.address, apiKey: testKeys.admin }
const toolyard = new Toolyard(options)
const place = (name: string): string => join(service.dir, 'workspace', name)

t.test('a call gives the output of its tool, also one that is too long for a model', async t => {
  t.strictSame(await toolyard.call('add', { a: 1, b: 2 }), { sum: 3 })
  t.equal((await toolyard.call('long') as { text: string }).text.length, 20_000)
})

t.test('whole numbers keep their digits both ways: those beyond 2^53 are a bigint', async t => {
  t.strictSame(await toolyard.call('back', { id: 725653563933458432n, list: [1, -9007199254740993n], text: 'bigint:1, 725653563933458432' }), {
    id: 725653563933458432n, list: [1, -9007199254740993n], text: 'bigint:1, 725653563933458432'
  })
})

t.test('a tool can\'t foresee how large numbers are marked: what would be a new mark each time costs no more than other texts', async t => {
  const id = '12345678901234567890'
  const read = (text: string): number => {
    const before = processorMs()
    t.strictSame(exactJson.parse(`{"id":${id},"text":"${text}"}`), { id: BigInt(id), text })
    return processorMs() - before
  }
  let text = 'bigint:'
  while (text.length < 100_000) text = `x${text.length}${text}`
  const plain = read('y'.repeat(text.length))
  const marked = read(text)
  t.ok(marked < 20 * plain + 100, `${marked.toFixed()} ms, and ${plain.toFixed()} ms for another text`)
})

t.test('fractions with many digits stand beside large whole numbers as they are', async t => {
  const values = { id: 725653563933458432n, sum: 0.30000000000000004, negative: -1.2345678901234566e-7, large: 1.2345678901234567e+300, text: '0.30000000000000004' }
  t.strictSame(await toolyard.call('back', values), values)
})

t.test('what can never be sent is a TypeError at once', async t => {
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  let sent = 0
  const client = new Toolyard({ ...options, fetch: async (...request) => { sent += 1; return await fetch(...request) } })
  await t.rejects(client.call('add', loop), TypeError)
  t.equal(sent, 0)
})

t.test('a call that fails throws a ToolError with the code, the details and the job', async t => {
  const failed = await toolyard.call('fail').catch((error: unknown) => error) as ToolError
  t.ok(failed instanceof ToolError)
  t.match(failed, { name: 'ToolError', code: 'TOOL_FAILED', message: 'the well is dry', tool: 'fail', status: 200 })
  t.equal((await toolyard.jobs.get(failed.jobId ?? '')).status, 'failed')
  await t.rejects(toolyard.call('add', { a: 'one' }), { code: 'INVALID_ARGUMENTS', jobId: undefined, tool: 'add' })
  await t.rejects(toolyard.call('no_such_tool'), { code: 'UNKNOWN_TOOL' })
})

t.test('a request that is refused throws a ToolyardError with the status and the request id', async t => {
  const refused = await new Toolyard({ ...options, apiKey: 'another-key-0123456789' }).tools().catch((error: unknown) => error) as ToolyardError
  t.ok(refused instanceof ToolyardError && !(refused instanceof ToolError))
  t.match(refused, { name: 'ToolyardError', code: 'UNAUTHORIZED', status: 401, requestId: /./ })
  await t.rejects(toolyard.call('add', {}, { queue: 'No Queue' }), { code: 'VALIDATION_ERROR', status: 400, message: /'queue' must match/ })
  await t.rejects(toolyard.jobs.get('no-such-job'), { code: 'NOT_FOUND', status: 404 })
})

t.test('the client waits for a call that takes longer than one request', async t => {
  const calling = toolyard.call('wait_for', { file: place('waited') }, { waitMs: 100 })
  await waitFor('the tool began', () => readFile(place('waited.runs'), 'utf8').catch(() => undefined))
  await writeFile(place('waited'), '')
  t.strictSame(await calling, { saw: place('waited') })
  t.equal(await readFile(place('waited.runs'), 'utf8'), 'x', 'it ran once')
})

t.test('a call that takes longer than timeoutMs throws TIMEOUT with its job, which goes on and can be cancelled', async t => {
  const late = await toolyard.call('wait_for', { file: place('never') }, { timeoutMs: 150 }).catch((error: unknown) => error) as ToolError
  t.equal(late.code, 'TIMEOUT')
  t.equal((await toolyard.cancel(late.jobId ?? '')).status, 'cancelled')
  t.equal((await toolyard.cancel(late.jobId ?? '')).status, 'cancelled', 'a cancel that is repeated is no error')
})

t.test('an aborted call throws the reason of its signal', async t => {
  const controller = new AbortController()
  const calling = toolyard.call('wait_for', { file: place('aborted') }, { signal: controller.signal })
  controller.abort(new Error('the user left'))
  await t.rejects(calling, { message: 'the user left' })
  await t.rejects(toolyard.tools('chat', { signal: AbortSignal.abort(new Error('gone')) }), { message: 'gone' })
})

t.test('a job is submitted once for an Idempotency-Key, listed and read, with its log', async t => {
  const job = await toolyard.jobs.submit({ type: 'agentcli.fail', tags: ['one'] }, { idempotencyKey: 'once' })
  t.equal((await toolyard.jobs.submit({ type: 'agentcli.fail', tags: ['one'] }, { idempotencyKey: 'once' })).id, job.id)
  const { jobs, next_cursor: cursor } = await toolyard.jobs.list({ tag: 'one', limit: 5 })
  t.strictSame([jobs.map(({ id }) => id), cursor], [[job.id], null])
  await waitFor('it failed', async () => (await toolyard.jobs.get(job.id)).status === 'failed')
  t.match(await toolyard.jobs.logs(job.id, { tail: 1 }), [{ level: /./, message: /./ }])
  await t.rejects(toolyard.cancel(job), { code: 'CONFLICT', status: 409 })
})

t.test('a job is followed from its first state through its log to its end', async t => {
  const job = await toolyard.jobs.submit({ type: 'agentcli.wait_for', input: { file: place('followed') } })
  const events: JobEvent[] = []
  for await (const event of toolyard.follow(job)) {
    events.push(event)
    if (event.type === 'log' && event.entry.message === 'began') await writeFile(place('followed'), '')
  }
  t.match(events.at(-1), { type: 'end', job: { id: job.id, status: 'succeeded', result: { saw: place('followed') } } })
  t.strictSame(events.flatMap(event => event.type === 'log' ? [event.entry.message] : []).filter(line => /began|saw it/.test(line)), ['began', 'saw it'])
  t.equal(events.filter(({ type }) => type === 'end').length, 1)
  const logId = events.flatMap(event => event.type === 'log' ? [event.entry.id] : []).at(-1)
  const again: JobEvent[] = []
  for await (const event of toolyard.follow(job.id, { after: logId })) again.push(event)
  t.strictSame(again.map(({ type }) => type), ['state', 'end'], 'lines that are known are not told again')
})

t.test('a follower that stops leaves nothing open, and following a missing job is an error', async t => {
  const job = await toolyard.jobs.submit({ type: 'agentcli.wait_for', input: { file: place('left') } })
  const following = toolyard.follow(job)
  t.match(await following.next(), { value: { type: 'state' } })
  await following.return(undefined)
  await writeFile(place('left'), '')
  const controller = new AbortController()
  const other = await toolyard.jobs.submit({ type: 'agentcli.wait_for', input: { file: place('aborted-2') } })
  await t.rejects(async () => {
    for await (const event of toolyard.follow(other, { signal: controller.signal })) if (event.type === 'state') controller.abort(new Error('enough'))
  }, { message: 'enough' })
  await toolyard.cancel(other)
  await t.rejects(toolyard.follow('no-such-job').next(), { code: 'NOT_FOUND' })
})
