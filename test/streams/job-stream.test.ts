import type { JobResponse } from '@toolyard/contract'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { testKeys } from '../support/service.ts'
import { openReader, type EventReader } from './event-reader.ts'
import { createChatter, chatterLines } from './tools.ts'

const { service, submit, streamUrl, release } = await createChatter(t)
const { client } = service
const key = testKeys.read
const redis = plainRedis(t, service.redis)

const statuses = (reader: EventReader): unknown[] => reader.events.filter(({ name }) => name === 'job_update').map(({ data }) => (data['job'] as { status: string }).status)

t.test('R41, RC26 a stream shows the job, the lines of the tool while it runs, the final state, and ends', async t => {
  const id = await submit({ lines: 3, stopAt: 'go-1', output: { answer: 42 } })
  const reader = await openReader(t, streamUrl(id), { key })
  t.equal(reader.status, 200)
  t.match(reader.headers, { 'content-type': /^text\/event-stream/, 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  await reader.next('log_append', data => data['message'] === 'line 2')
  t.equal((await client.request<JobResponse>(`/v1/jobs/${id}`)).body.job.status, 'running', 'the lines come while the tool runs')
  t.notOk(reader.isEnded())
  await release('go-1')
  await reader.ended()
  t.ok(reader.text().startsWith('retry: 2000\n\n'))
  t.equal(reader.events[0]?.name, 'job_update', 'on connect there is always one update')
  t.same(reader.lines(), chatterLines(0, 3))
  t.equal(statuses(reader).at(-1), 'succeeded')
  t.equal(new Set(reader.events.map(event => JSON.stringify(event))).size, reader.events.length, 'nothing comes twice')
  t.same(reader.events.at(-1), { name: 'end', id: undefined, data: { reason: 'finished', status: 'succeeded' } })
  t.match(reader.events.at(-2)?.data, { job: { id, result: { answer: 42 }, error: null } })
  const line = reader.events.find(({ name }) => name === 'log_append')
  t.same(Object.keys(line?.data ?? {}), ['id', 'ts', 'level', 'message', 'meta'])
  t.equal(line?.id, line?.data['id'])
  t.match(line?.data, { level: 'info', meta: null, ts: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ })
})

t.test('HEAD of a stream is answered as GET would be, and opens none', async t => {
  const id = await submit({ lines: 1, stopAt: 'go-head' })
  const { address } = await service.startApi({ MAX_STREAMS: '1' })
  const head = async (url: string, headers: Record<string, string> = { 'x-api-key': key }): Promise<Response> => await fetch(url, { method: 'HEAD', headers })
  for (let time = 0; time < 2; time++) {
    const answer = await head(streamUrl(id, address))
    t.equal(answer.status, 200)
    t.match(Object.fromEntries(answer.headers), { 'content-type': /^text\/event-stream/, 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  }
  t.equal((await head(streamUrl('01890a5d-ac96-774b-bcce-b302099a8057', address))).status, 404)
  t.equal((await head(`${streamUrl(id, address)}?since_log_id=x`)).status, 400)
  t.equal((await head(streamUrl(id, address), {})).status, 401)
  const reader = await openReader(t, streamUrl(id, address), { key })
  t.equal(reader.status, 200)
  t.equal((await head(streamUrl(id, address))).status, 503, 'no room for another one')
  await release('go-head')
  await reader.ended()
})

t.test('B26 the stream of a job that has ended shows all of it and ends', async t => {
  const id = await submit({ lines: 2 })
  await (await openReader(t, streamUrl(id), { key })).ended()
  const reader = await openReader(t, streamUrl(id), { key })
  await reader.ended()
  t.same(reader.events.map(({ name }) => name), ['job_update', 'log_append', 'log_append', 'end'])
  t.same(statuses(reader), ['succeeded'])
})

t.test('RC26 a reader resumes after the larger of Last-Event-ID and since_log_id', async t => {
  const id = await submit({ lines: 6 })
  const first = await openReader(t, streamUrl(id), { key })
  await first.ended()
  const ids = first.events.flatMap(event => event.id ?? [])
  const at = (index: number): string => ids[index] ?? ''
  const resumed = async (query: string, headers: Record<string, string> = {}): Promise<string[]> => {
    const reader = await openReader(t, streamUrl(id) + query, { key, headers })
    await reader.ended()
    return reader.lines()
  }
  t.same(await resumed('', { 'last-event-id': at(3) }), chatterLines(4, 6))
  t.same(await resumed(`?since_log_id=${at(4)}`), chatterLines(5, 6))
  t.same(await resumed(`?since_log_id=${at(1)}`, { 'last-event-id': at(2) }), chatterLines(3, 6))
  t.same(await resumed(`?since_log_id=${at(2)}`, { 'last-event-id': at(1) }), chatterLines(3, 6))
  t.same(await resumed(`?since_log_id=${at(5)}`), [])
  t.same(await resumed('?since_log_id=0'), chatterLines(0, 6))
  t.same(await resumed('?since_log_id=9999999999999999999-9999999999999999999'), [])
})

t.test('a place to resume from that isn\'t a log id is a 400', async t => {
  const id = await submit({})
  for (const since of ['x', '-1', '1-', '1-2-3', '1.5', '99999999999999999999', '%24', '1&since_log_id=2']) {
    const answer = await client.request(`/v1/jobs/${id}/stream?since_log_id=${since}`)
    t.equal(answer.status, 400, since)
    t.match(answer.body, { ok: false, error: { code: 'VALIDATION_ERROR' } })
  }
  t.equal((await client.request(`/v1/jobs/${id}/stream`, { headers: { 'last-event-id': 'abc' } })).status, 400)
})

t.test('RC25, fault 36 the stream of an unknown or foreign job is a 404 before it begins', async t => {
  const id = await submit({})
  for (const path of ['/v1/jobs/0197c9a5-0000-7000-8000-000000000000/stream', '/v1/jobs/nonsense/stream']) {
    const answer = await client.request(path)
    t.equal(answer.status, 404)
    t.same(answer.body, { ok: false, error: { code: 'NOT_FOUND', message: 'Job not found' }, request_id: answer.headers.get('x-request-id') })
  }
  t.equal((await client.request(`/v1/jobs/${id}/stream`, { key: testKeys.limited })).status, 404)
})

t.test('RC26 a stream on which nothing happens has heartbeats', async t => {
  const id = await submit({ stopAt: 'go-4' })
  const reader = await openReader(t, streamUrl(id), { key })
  await waitFor('three heartbeats', () => reader.comments.filter(comment => comment === ': heartbeat').length >= 3)
  t.notOk(reader.isEnded())
  await release('go-4')
  await reader.ended()
  t.equal(statuses(reader).at(-1), 'succeeded', 'they end with the job')
})

t.test('the sweep finds what no message announced: a removed record ends the stream as deleted, and a new line appears', async t => {
  const id = await submit({ stopAt: 'go-5' })
  const reader = await openReader(t, streamUrl(id), { key })
  await waitFor('the job runs', () => statuses(reader).includes('running'))
  await redis.xadd(`toolyard:{default}:${id}:log`, '*', 'ts', new Date().toISOString(), 'level', 'warn', 'message', 'untold', 'meta', '{"a":1}')
  t.match((await reader.next('log_append')).data, { level: 'warn', message: 'untold', meta: { a: 1 } })
  await redis.del(`toolyard:{default}:${id}`)
  await reader.ended()
  t.same(reader.events.at(-1), { name: 'end', id: undefined, data: { reason: 'deleted' } })
  await release('go-5')
})

t.test('fault 42 script in a line and in a result stays text within one line of JSON', async t => {
  const script = '<script>alert(1)</script>\r\ndata: {}\n\nevent: end\ndata: {}'
  const id = await submit({ say: '</script><img src=x onerror=alert(1)> \u2028event: end\r', output: script })
  const reader = await openReader(t, streamUrl(id), { key })
  await reader.ended()
  t.equal(reader.headers['x-content-type-options'], 'nosniff')
  t.same(reader.lines(), ['</script><img src=x onerror=alert(1)> \u2028event: end'])
  t.equal(reader.events.filter(({ name }) => name === 'end').length, 1)
  t.match(reader.events.at(-2)?.data, { job: { result: script } })
})

t.test('fault 39 what a tool prints of the keys of the service does not reach the log', async t => {
  const id = await submit({ say: `key=${testKeys.admin}!` })
  const reader = await openReader(t, streamUrl(id), { key })
  await reader.ended()
  t.same(reader.lines(), ['key=***REDACTED***!'])
})
