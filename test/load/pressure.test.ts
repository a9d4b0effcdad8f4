import { setTimeout as sleep } from 'node:timers/promises'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobList } from '@toolyard/contract'
import t from 'tap'
import type { Cleanup } from '../support/cleanup.ts'
import { createClient, type Client, type TestCall } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import type { AppProcess } from '../support/processes.ts'
import { createService, testKeys } from '../support/service.ts'
import { post } from '../jobs/submission.ts'

const files = { 'tools/bin/note': '#!/bin/sh\ncat >> order\n' }
const tools = [{ name: 'note', schema: { type: 'object' }, command: ['./tools/bin/note'] }]
const others = { API_KEYS_JSON: JSON.stringify(['a', 'b'].map(name => ({ name, key: keyOf(name), role: 'admin' }))) }
const calls = (count: number, note = ''): TestCall[] => Array.from({ length: count }, (_, index) => ({ call_id: `c${index}`, name: 'note', arguments: { note: `${note}${index}` } }))
const codes = (results: ReadonlyArray<{ error?: { code: string } }>): Array<string | undefined> => results.map(({ error }) => error?.code)

t.test('a full queue refuses jobs beyond its depth, and says when to try again', async t => {
  const { client } = await createService(t, { files, tools, workers: 0, env: { MAX_QUEUE_DEPTH: '3' } })
  const answer = await client.request('/v1/agent-tools/invoke-batch', { body: { calls: calls(5), mode: 'async' } })
  t.equal(answer.headers.get('retry-after'), '1')
  t.match(answer.body, { ok: true, results: [{ ok: true }, { ok: true }, { ok: true }, { ok: false, error: { code: 'QUEUE_FULL', message: "Queue 'default' is full: 3 jobs wait in it already" } }, { ok: false }] })
  const single = await post(client, { type: 'agentcli.note' })
  t.match(single, { status: 429, body: { ok: false, error: { code: 'RATE_LIMITED', message: /is full/ } } })
  t.equal(single.headers.get('retry-after'), '1')
  t.match((await client.batch(calls(1), { mode: 'async', queue: 'other' })).results, [{ ok: true }])
})

t.test('a key has as many unfinished jobs as it may, over all queues and API processes', async t => {
  const service = await createService(t, { files, tools, workers: 0, env: { ...others, MAX_JOBS_PER_KEY: '3' } })
  const a = createClient(service.api.address, keyOf('a'))
  const elsewhere = (await service.startApi()).address
  t.same(codes((await a.batch(calls(2), { mode: 'async' })).results), [undefined, undefined])
  t.same(codes((await createClient(elsewhere, keyOf('a')).batch(calls(2), { mode: 'async', queue: 'other' })).results), [undefined, 'QUEUE_FULL'])
  t.same(codes((await a.batch(calls(1), { mode: 'async' })).results), ['QUEUE_FULL'])
  t.same(codes((await createClient(elsewhere, keyOf('b')).batch(calls(3), { mode: 'async' })).results), [undefined, undefined, undefined])

  await service.startWorker()
  await waitFor('the jobs have ended', async () => (await a.request<JobList>('/v1/jobs?status=succeeded')).body.count === 6)
  t.same(codes((await a.batch(calls(3), { mode: 'async' })).results), [undefined, undefined, undefined])
})

t.test('a key makes as many requests in a minute as it may, over all API processes', async t => {
  const service = await createService(t, { workers: 0, env: { ...others, RATE_LIMIT_PER_MINUTE: '4' } })
  const [here, there] = [service.api.address, (await service.startApi()).address]
  const statuses: number[] = []
  for (const address of [here, there, here, there]) statuses.push((await createClient(address, keyOf('a')).request('/v1/agent-tools')).status)
  t.same(statuses, [200, 200, 200, 200])
  for (const address of [here, there]) {
    const refused = await createClient(address, keyOf('a')).request('/v1/agent-tools/invoke-batch', { body: 'not read' })
    t.match(refused, { status: 429, body: { ok: false, error: { code: 'RATE_LIMITED' } } })
    t.match(refused.headers.get('retry-after'), /^(?:[1-9]|[1-5]\d|60)$/)
  }
  t.equal((await createClient(here, keyOf('b')).request('/v1/agent-tools')).status, 200)
  t.equal((await createClient(here, keyOf('a')).request('/health')).status, 200)
})

t.test('fault 35 a key that floods a queue takes turns with another key, and each key is served in its own order', async t => {
  const service = await createService(t, { files, tools, workers: 0, env: { ...others, WORKER_CONCURRENCY: '1', SANDBOX: 'off' } })
  const [a, b] = [createClient(service.api.address, keyOf('a')), createClient((await service.startApi()).address, keyOf('b'))]
  const add = async (client: Client, count: number, note: string, rest = {}): Promise<unknown> => await client.batch(calls(count, note), { mode: 'async', ...rest })
  for (const batch of ['p', 'q']) await add(a, 20, `a${batch}`)
  await add(b, 3, 'b')
  // The keys' knowledge of each other is up to a second old.
  await sleep(1_100)
  await add(b, 3, 'bb')
  t.equal((await post(a, { type: 'agentcli.note', input: { note: 'first' }, priority: 6 })).status, 201)

  await service.startWorker()
  const order = await waitFor('all have run', async () => {
    const text = await readFile(join(service.dir, 'workspace/order'), 'utf8').catch(() => '')
    const notes = [...text.matchAll(/"note":"(\w+)"/g)].map(match => match[1] ?? '')
    return notes.length === 47 && notes
  })
  t.equal(order[0], 'first', 'a higher priority comes before all turns')
  const places = (prefix: RegExp): number[] => order.flatMap((note, place) => prefix.test(note) ? [place] : [])
  t.same(order.filter(note => note.startsWith('a')), ['p', 'q'].flatMap(batch => Array.from({ length: 20 }, (_, index) => `a${batch}${index}`)))
  t.same(order.filter(note => note.startsWith('b')), ['b0', 'b1', 'b2', 'bb0', 'bb1', 'bb2'])
  t.ok((places(/^b/).at(-1) ?? 99) <= 14, `the other key did not wait for the flood: ${order.slice(0, 16).join(' ')}`)
})

/** Lets the process of an API run for a moment at a time only, so that its event loop is late at each look, until `end` is called. */
function slowDown (t: Cleanup, { child }: AppProcess): { end: () => Promise<void> } {
  const ending = new AbortController()
  const cycles = (async () => {
    while (!ending.signal.aborted) {
      child.kill('SIGSTOP')
      await sleep(400)
      child.kill('SIGCONT')
      await sleep(30)
    }
  })()
  const end = async (): Promise<void> => {
    ending.abort()
    await cycles
  }
  t.teardown(end)
  return { end }
}

t.test('an overloaded API process refuses new work and says so on /ready, answers cheap requests, and serves everything when it has caught up', async t => {
  const { client, api } = await createService(t, { files, tools, workers: 0, env: { MAX_EVENT_LOOP_DELAY_MS: '5' } })
  const { job: { id } } = (await post(client, { type: 'agentcli.note' })).body
  const slow = slowDown(t, api)
  const refused = await waitFor('a batch is refused', async () => {
    const answer = await client.request('/v1/agent-tools/invoke-batch', { body: { calls: calls(1), mode: 'async' } })
    return answer.status === 503 && answer
  })
  t.match(refused.body, { ok: false, error: { code: 'UNAVAILABLE' } })
  t.equal(refused.headers.get('retry-after'), '1')
  await waitFor('/ready says so', async () => {
    const ready = await client.request('/ready')
    return ready.status === 503 && (ready.body as { checks: { load: { ok: boolean } } }).checks.load.ok === false
  })
  t.equal((await client.request('/v1/agent-tools', { key: testKeys.read })).status, 200)
  t.equal((await client.request(`/v1/jobs/${id}`)).status, 200)
  t.equal((await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })).status, 200, 'a cancel makes less work')
  await slow.end()
  await waitFor('it serves again', async () => (await client.request('/v1/jobs')).status === 200)
  t.equal((await client.request('/ready')).status, 200)
})

t.test('one long stall of an API process refuses nobody, neither after its start nor later', async t => {
  const { client, api } = await createService(t, { files, tools, workers: 0, env: { MAX_EVENT_LOOP_DELAY_MS: '500' } })
  const statuses = new Set<number>()
  const batch = async (): Promise<void> => { statuses.add((await client.request('/v1/agent-tools/invoke-batch', { body: { calls: calls(1), mode: 'async' } })).status) }
  await batch()
  api.child.kill('SIGSTOP')
  await sleep(2_500)
  api.child.kill('SIGCONT')
  for (let request = 0; request < 50; request++) await batch()
  t.same([...statuses], [200])
})

function keyOf (name: string): string {
  return `test-key-of-${name}-0123456789`
}
