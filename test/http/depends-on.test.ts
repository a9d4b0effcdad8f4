import { existsSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'
import { waitFor } from '../support/condition.ts'
import { cancel, post, reach, read, submit } from '../jobs/submission.ts'
import { plainRedis } from '../support/connection.ts'

const ordered = { name: 'ordered', schema: { type: 'object', properties: { depends_on: { type: 'string' } } }, command: ['./tools/bin/echo'] }
const service = await injectService(t, { files: programs, tools: [...entries, ordered], env: { WORKER_CONCURRENCY: '1' } })
const { client } = service
const redis = plainRedis(t, service.redis)
const type = 'agentcli.echo'
const unknownId = '0197c9a5-0000-7000-8000-000000000000'
const blocked = (id: string, status: string): object => ({
  status: 'failed', attempts: 0, worker: null, started_at: null, ran_ms: null, error: { code: 'DEPENDENCY_BLOCKED', message: 'Dependency failed or missing', details: { dependencies: [{ job_id: id, status }] } }
})
const marked = (name: string): boolean => existsSync(join(service.dir, 'workspace', name))

t.test('RC22 depends_on must be an array of job ids', async t => {
  for (const [input, message] of [
    [{ depends_on: 'x' }, "'input.depends_on' must be an array"],
    [{ depends_on: { 0: 'x' } }, "'input.depends_on' must be an array"],
    [{ depends_on: [1] }, "'input.depends_on' must be an array of at most 100 job ids"],
    [{ depends_on: Array.from({ length: 101 }, () => unknownId) }, "'input.depends_on' must be an array of at most 100 job ids"]
  ] as const) {
    const answer = await post(client, { type, input })
    t.equal(answer.status, 400)
    t.same(answer.body, { ok: false, error: { code: 'VALIDATION_ERROR', message, details: {} }, request_id: answer.headers.get('x-request-id') })
  }
  t.match((await post(client, { type, depends_on: 'x' })).body, { error: { message: "'depends_on' must be an array of at most 100 job ids" } })
  const free = await submit(client, { type, input: { depends_on: [], a: 1 } })
  t.match(await reach(client, free.id, 'succeeded', 'failed'), { status: 'succeeded', result: { a: 1 }, input: { a: 1 } }, 'it is no argument of the tool')
  const own = await submit(client, { type: 'agentcli.ordered', input: { depends_on: 'mine' } })
  t.match(await reach(client, own.id, 'succeeded', 'failed'), { status: 'succeeded', result: { depends_on: 'mine' } }, 'unless the tool has such a parameter')
})

t.test('RC35 a job runs when the jobs that it depends on have succeeded, in any queue, and takes no slot until then', async t => {
  const first = await submit(client, { type: 'agentcli.nap', input: { ms: 100, mark: 'first-ran' }, delay_ms: 400 })
  const second = await submit(client, { type, queue: 'other', delay_ms: 300 })
  const waiting = await submit(client, { type: 'agentcli.nap', input: { ms: 1, mark: 'waiting-ran', depends_on: [first.id, second.id] }, depends_on: [first.id] })
  t.match(waiting, { status: 'queued', depends_on: [first.id, second.id], attempts: 0 })
  const chained = await submit(client, { type, queue: 'third', depends_on: [waiting.id], input: { last: true } })
  t.equal(marked('waiting-ran'), false)
  t.match(await reach(client, chained.id, 'succeeded', 'failed'), { status: 'succeeded', result: { last: true } })
  t.equal(marked('first-ran') && marked('waiting-ran'), true)
  t.match(await read(client, waiting.id), { status: 'succeeded', attempts: 1 })
  const late = await submit(client, { type, depends_on: [first.id, chained.id] })
  t.match(await reach(client, late.id, 'succeeded', 'failed'), { status: 'succeeded' }, 'what it depends on may have ended before')
  const delayed = await submit(client, { type, depends_on: [late.id], delay_ms: 600 })
  await reach(client, delayed.id, 'succeeded')
  const { created_at: created, updated_at: ended } = await read(client, delayed.id)
  t.ok(Date.parse(ended) - Date.parse(created) >= 600, 'and a delay still counts')
})

t.test('RC35 a job whose dependency failed, was cancelled or is missing fails without running', async t => {
  const failing = await submit(client, { type: 'agentcli.fail', delay_ms: 300 })
  const onFailing = await submit(client, { type: 'agentcli.nap', input: { ms: 1, mark: 'never' }, depends_on: [failing.id] })
  const below = await submit(client, { type, depends_on: [onFailing.id] })
  t.match(await reach(client, onFailing.id, 'succeeded', 'failed'), blocked(failing.id, 'failed'))
  t.match(await reach(client, below.id, 'succeeded', 'failed'), blocked(onFailing.id, 'failed'))
  t.equal(marked('never'), false)

  const cancelled = await submit(client, { type, delay_ms: 60_000 })
  const open = await submit(client, { type, delay_ms: 60_000 })
  const onCancelled = await submit(client, { type, depends_on: [cancelled.id, open.id] })
  await cancel(client, cancelled.id)
  t.match(await reach(client, onCancelled.id, 'succeeded', 'failed'), blocked(cancelled.id, 'cancelled'), 'at once, though another one is open')
  await cancel(client, open.id)

  for (const id of [unknownId, 'not-an-id']) {
    const onMissing = await submit(client, { type, depends_on: [id] })
    t.match(await reach(client, onMissing.id, 'succeeded', 'failed'), blocked(id, 'missing'))
  }
  const foreign = await submit(client, { type })
  await reach(client, foreign.id, 'succeeded')
  const onForeign = await submit(client, { type, queue: 'allowed', depends_on: [foreign.id] }, { key: testKeys.limited })
  t.match(await reach(client, onForeign.id, 'succeeded', 'failed'), blocked(foreign.id, 'missing'), 'a job that the key may not see is as good as none')
})

t.test('RC35 a waiting job can be cancelled, and repeated with its Idempotency-Key', async t => {
  const open = await submit(client, { type, delay_ms: 60_000 })
  const headers = { 'idempotency-key': 'waits-once' }
  const waiting = await submit(client, { type, depends_on: [open.id] }, { headers })
  const again = await post(client, { type, depends_on: [open.id] }, { headers })
  t.match(again.body, { job: { id: waiting.id }, idempotent: true })
  t.match((await cancel(client, waiting.id)).body, { job: { status: 'cancelled' } })
  await cancel(client, open.id)
  t.match(await read(client, waiting.id), { status: 'cancelled', attempts: 0 })
})

t.test('RC35 a waiting job whose message was lost is found', async t => {
  const open = await submit(client, { type, delay_ms: 500 })
  const waiting = await submit(client, { type, depends_on: [open.id] })
  t.equal(await redis.del(`toolyard:{default}:${open.id}:dependents`), 1)
  t.match(await reach(client, waiting.id, 'succeeded', 'failed'), { status: 'succeeded' })
  t.same((await redis.keys('*:dependents')), [], 'nothing is left of any of them')
})

t.test('the queues of 100 dependencies are looked for together, however many queues there are', async t => {
  const queues = Array.from({ length: 20 }, (_, index) => `of-many-${index}`)
  const there = await Promise.all(queues.map(async queue => await submit(client, { type, queue, delay_ms: 600_000 })))
  const stem = unknownId.slice(0, -2)
  const seen: string[] = []
  // ioredis fails where the first command comes with the answer to MONITOR.
  const { path, host, port } = redis.options
  const socket = path === undefined ? createConnection({ host, port: port ?? 6_379 }) : createConnection({ path })
  t.teardown(() => { socket.destroy() })
  createInterface(socket).on('line', line => { seen.push(line) })
  socket.write('MONITOR\r\n')
  await waitFor('Redis tells its commands', () => seen.includes('+OK'))
  const unknown = Array.from({ length: 80 }, (_, index) => `${stem}${String(index).padStart(2, '0')}`)
  const { status, body } = await post(client, { type, depends_on: [...there.map(({ id }) => id), ...unknown] })
  t.equal(status, 201)
  t.match(body, { job: { depends_on: { length: 100 } } })
  await redis.echo('all of them')
  await waitFor('they were told', () => seen.some(line => line.endsWith('"all of them"')))
  // Those of a script come by no connection.
  const commands = seen.filter(line => line.includes(stem) && !line.includes(' lua] ')).length
  t.ok(commands > 0 && commands < 200, `${commands} commands`)
})
