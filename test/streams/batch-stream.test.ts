import type { InvokeBatchResponse } from '@toolyard/contract'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { openReader, type EventReader } from './event-reader.ts'
import { chatterEntry, chatterFiles } from './tools.ts'

const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env: { SSE_HEARTBEAT_SEC: '0.2' } })
const { client } = service
const url = `${service.api.address}/v1/agent-tools/invoke-batch`
const key = testKeys.admin

const call = (id: string, args: object = {}, name = 'chatter'): object => ({ call_id: id, name, arguments: args })
const open = async (body: object, headers: Record<string, string> = {}): Promise<EventReader> =>
  await openReader(t, url, { key, headers, body })
const indexes = (reader: EventReader): unknown[] => reader.events.filter(({ name }) => name === 'call_result').map(({ data }) => data['index'])

t.test('a batch is watched: each answer as its call ends, then the body of the JSON answer', async t => {
  const reader = await open({ calls: [call('slow', { stopAt: 'go-1', output: 1 }), call('quick', { output: { two: 2 } }), call('none', {}, 'no_such_tool')] })
  t.equal(reader.status, 200)
  t.match(reader.headers, { 'content-type': /^text\/event-stream/, 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  const quick = await reader.next('call_result', data => data['index'] === 1)
  t.match(quick.data, { result: { call_id: 'quick', ok: true, output: { two: 2 } }, tool_message: { role: 'tool', tool_call_id: 'quick' } })
  t.same(indexes(reader), [2, 1], 'a call that needs no job is answered at once')
  t.notOk(reader.events.some(({ name }) => name === 'end'))
  await waitFor('a heartbeat', () => reader.comments.includes(': heartbeat'))
  await writeFile(join(service.dir, 'workspace/go-1'), '')
  await reader.ended()
  t.same(indexes(reader), [2, 1, 0])
  const body = reader.events.at(-1)?.data as unknown as InvokeBatchResponse
  t.equal(reader.events.at(-1)?.name, 'end')
  t.match(body, { ok: true, mode: 'sync', results: [{ call_id: 'slow', output: 1 }, { call_id: 'quick' }, { call_id: 'none', error: { code: 'UNKNOWN_TOOL' } }] })
  for (const { name, data } of reader.events) {
    if (name !== 'call_result') continue
    t.same(data['result'], body.results[data['index'] as number])
    t.same(data['tool_message'], body.tool_messages[data['index'] as number])
  }
})

t.test('R25 calls that have not ended at the deadline are sent as pending', async t => {
  const reader = await open({ calls: [call('a', { stopAt: 'go-2' })], wait_ms: 300 })
  await reader.ended()
  t.match(reader.events.map(({ data }) => data), [{ index: 0, result: { pending: true, error: { code: 'TIMEOUT' } } }, { results: [{ pending: true }] }])
  await writeFile(join(service.dir, 'workspace/go-2'), '')
})

t.test('R39 an async batch has its whole answer at once', async t => {
  const reader = await open({ calls: [call('a')], mode: 'async' })
  await reader.ended()
  t.same(reader.events.map(({ name }) => name), ['end'])
  t.match(reader.events[0]?.data, { mode: 'async', results: [{ ok: true, job_type: 'agentcli.chatter' }] })
})

t.test('twenty calls that end together are each sent once', async t => {
  const reader = await open({ calls: Array.from({ length: 20 }, (_, index) => call(`c${index}`, { output: 'x'.repeat(500 * index) })), wait_ms: 60_000 })
  await reader.ended()
  t.same(indexes(reader).map(Number).sort((a, b) => a - b), Array.from({ length: 20 }, (_, index) => index))
})

t.test('a client that prefers JSON gets JSON, and so does a bad request', async t => {
  const body = { calls: [call('a')] }
  for (const accept of ['application/json', '*/*', 'application/json, text/event-stream', 'text/event-stream;q=0.5, application/json', 'text/event-stream;q=0']) {
    t.match((await client.request('/v1/agent-tools/invoke-batch', { headers: { accept }, body })).headers.get('content-type'), /^application\/json/, accept)
  }
  for (const accept of ['text/event-stream, application/json', 'application/json;q=0.9, TEXT/EVENT-STREAM']) {
    const reader = await open(body, { accept })
    t.match(reader.headers['content-type'], /^text\/event-stream/, accept)
    await reader.ended()
  }
  const bad = await client.request('/v1/agent-tools/invoke-batch', { headers: { accept: 'text/event-stream' }, body: { calls: [] } })
  t.equal(bad.status, 400)
  t.match(bad.body, { ok: false, error: { code: 'VALIDATION_ERROR' } })
})

t.test('a client that stops watching leaves its jobs running', async t => {
  const reader = await open({ calls: [call('a', { output: 'first' }), call('b', { stopAt: 'go-3', say: 'here' })] })
  await reader.next('call_result')
  reader.close()
  await writeFile(join(service.dir, 'workspace/go-3'), '')
  t.equal((await client.call('chatter')).ok, true, 'and the service goes on')
})
