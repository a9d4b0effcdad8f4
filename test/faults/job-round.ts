import type { InvokeBatchResponse, JobList } from '@toolyard/contract'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { cancel, list, post, reach, submit } from '../jobs/submission.ts'
import { openReader } from '../streams/event-reader.ts'
import { chatterEntry, chatterFiles } from '../streams/tools.ts'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { testKeys, type Processes } from '../support/service.ts'

/** Tools that a round of jobs needs. */
export const roundTools = { files: { ...programs, ...chatterFiles }, tools: [...entries, chatterEntry] }

/** Calls until one succeeds: what fails in between fails clearly, and soon. */
export async function callUntilServed (t: Test, { client }: Processes, queue: string): Promise<void> {
  await waitFor(`queue ${queue} is served`, async () => {
    const startedAt = performance.now()
    const answer = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'c', name: 'echo' }], queue, wait_ms: 2_000 } })
    if (answer.status !== 200 && answer.status !== 503) t.fail(`answered ${answer.status}`)
    if (performance.now() - startedAt > 8_000) t.fail('an answer came late')
    return answer.status === 200 && answer.body.results[0]?.ok
  }, 60_000)
}

/** All of a service's work with jobs, once through: each part fails by itself where Redis isn't used as it has to be. */
export async function runJobRound (t: Test, service: Processes): Promise<void> {
  const { client } = service
  const queues = ['default', 'a:b', 'c', 'd', 'e']
  const batches = await Promise.all(queues.map(async queue => await client.batch([1, 2].map(n => ({ call_id: `c${n}`, name: 'echo', arguments: { n, queue } })), { queue })))
  t.same(batches.map(({ results }) => results.map(({ output }) => output)), queues.map(queue => [1, 2].map(n => ({ n, queue }))), 'calls of several queues')
  const { body: mixed } = await client.request<JobList>('/v1/jobs?limit=100')
  t.equal(mixed.jobs.filter(({ tool }) => tool === 'echo').length, 2 * queues.length, 'a list over all queues')
  t.equal((await client.call('big', { char: 'x', count: 50_000 })).ok, true, 'an output that is stored beside its job')

  const once = { headers: { 'idempotency-key': 'round' } }
  const [made, again] = [await post(client, { type: 'agentcli.echo' }, once), await post(client, { type: 'agentcli.echo' }, once)]
  t.equal(made.body.job.id, again.body.job.id, 'a request that is repeated')

  const napping = await submit(client, { type: 'agentcli.nap', queue: 'c', input: { ms: 15_000, mark: 'napping' } })
  await waitFor('it runs', () => existsSync(join(service.dir, 'workspace/napping')))
  t.equal((await cancel(client, napping.id)).body.job.status, 'cancelled', 'a cancel of a running job')

  const chatting = await submit(client, { type: 'agentcli.chatter', queue: 'd', input: { lines: 3, stopAt: 'round-go' } })
  const reader = await openReader(t, `${service.api.address}/v1/jobs/${chatting.id}/stream`, { key: testKeys.read })
  await reader.next('log_append', data => data['message'] === 'line 2')
  writeFileSync(join(service.dir, 'workspace/round-go'), '')
  await reader.ended()
  t.match(reader.events.at(-1), { name: 'end', data: { reason: 'finished', status: 'succeeded' } }, 'an event stream')

  const types = await client.request('/v1/job-types/agentcli.fail', { method: 'PATCH', body: { enabled: false } })
  t.equal(types.status, 200)
  t.equal((await client.call('fail')).error?.code, 'JOB_TYPE_DISABLED', 'a switched job type')
  await client.request('/v1/job-types/agentcli.fail', { method: 'PATCH', body: { enabled: true } })
  await reach(client, made.body.job.id, 'succeeded')
  t.ok((await list(client, '?queue=a:b')).count >= 2)
}
