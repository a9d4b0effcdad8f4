import type { JobResponse } from '@toolyard/contract'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createClient } from '../support/client.ts'
import { createService, testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'
import { plainRedis } from '../support/connection.ts'

const service = await createService(t, { files: programs, tools: entries })
const { client } = service
const redis = plainRedis(t, service.redis)

t.test('R36, R38, RC17 a batch is answered when its last call ends, not at a poll or at the deadline', async t => {
  await client.call('nap', { ms: 1 })
  const startedAt = performance.now()
  t.same((await client.call('nap', { ms: 300 }, { wait_ms: 30_000 })).output, { slept: 300 })
  t.ok(performance.now() - startedAt < 5_000)
})

t.test('R19, X27 at the deadline the request is answered, whatever still runs', async t => {
  const startedAt = performance.now()
  const result = await client.call('nap', { ms: 8_000 }, { wait_ms: 500 })
  const took = performance.now() - startedAt
  t.equal(result.pending, true)
  t.ok(took >= 495 && took < 2_000, `${took} ms`)
})

t.test('the sweep finds the end of a job whose message was lost', async t => {
  // The worker publishes to a channel that nobody hears: as if the connection had dropped at that moment.
  const deaf = await service.startApi()
  const heard = createClient(deaf.address, testKeys.admin)
  await heard.call('echo')
  const subscribers = (await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub') as string).trim().split('\n')
  const pending = heard.call('nap', { ms: 400 }, { wait_ms: 20_000 })
  for (const line of subscribers) await redis.call('CLIENT', 'KILL', 'ID', /id=(\d+)/.exec(line)?.[1] ?? '')
  t.same((await pending).output, { slept: 400 })
})

t.test('a client that disconnects leaves its job running, and no waiter behind', async t => {
  const abort = new AbortController()
  const request = client.batch([{ call_id: 'a', name: 'nap', arguments: { ms: 700 } }])
  const gone = client.request('/v1/agent-tools/invoke-batch', {
    body: { calls: [{ call_id: 'b', name: 'nap', arguments: { ms: 701 } }] }, signal: abort.signal
  }).catch((error: unknown) => error as Error)
  const jobOf = async (ms: number): Promise<string | undefined> => {
    for (const key of await redis.keys('toolyard:{default}:*-*-*-*-*')) {
      if (/:[0-9a-f-]{36}$/.test(key) && (await redis.hget(key, 'data'))?.includes(`"ms":${ms}`) === true) return key.slice(key.lastIndexOf(':') + 1)
    }
    return undefined
  }
  let id: string | undefined
  await waitFor('the job exists', async () => (id = await jobOf(701)) !== undefined)
  abort.abort()
  t.equal((await gone as Error).name, 'AbortError')
  await waitFor('the abandoned job has succeeded', async () => (await client.request<JobResponse>(`/v1/jobs/${id}`)).body.job.status === 'succeeded')
  t.same((await request).results[0]?.output, { slept: 700 })
})

t.test('waiting costs no connections: many batches at once share those of the process', async t => {
  const count = async (): Promise<number> => (await redis.call('CLIENT', 'LIST') as string).trim().split('\n').length
  const before = await count()
  const batches = Array.from({ length: 40 }, (_, index) => client.call('nap', { ms: 100 + index }, { wait_ms: 60_000 }))
  await waitFor('jobs are running', async () => await redis.llen('toolyard:{default}:active') > 0)
  t.equal(await count(), before)
  for (const result of await Promise.all(batches)) t.equal(result.ok, true)
})

t.test('a job id is a UUID that the server makes, also when a call id looks like one', async t => {
  const callId = '0197c9a5-0000-7000-8000-000000000000'
  const { results: [result] } = await client.batch([{ call_id: callId, name: 'echo' }], { mode: 'async' })
  t.not(result?.job_id, callId)
  t.equal((await client.request(`/v1/jobs/${callId}`)).status, 404)
})
