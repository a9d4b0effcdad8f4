import type { JobLogsResponse, JobResponse, SubmitJobResponse } from '@toolyard/contract'
import t from 'tap'
import { openReader } from '../streams/event-reader.ts'
import { chatterEntry, chatterFiles, chatterLines } from '../streams/tools.ts'
import { createClient } from '../support/client.ts'
import { createService, testKeys } from '../support/service.ts'

const service = await createService(t, { files: chatterFiles, tools: [chatterEntry] })
const key = testKeys.read
const streamUrl = (id: string, address: string): string => `${address}/v1/jobs/${id}/stream`

t.test('R37, R41, RC25 a job is submitted, streamed, resumed after its API process was killed, cancelled and read back', async t => {
  const submitted = await service.client.request<SubmitJobResponse>('/v1/jobs', { body: { type: 'agentcli.chatter', input: { lines: 60, everyMs: 10, stopAt: 'never' } } })
  t.equal(submitted.status, 201)
  const { id } = submitted.body.job
  const before = await openReader(t, streamUrl(id, service.api.address), { key })
  await before.next('log_append', data => data['message'] === 'line 10')
  await service.api.stop('SIGKILL')
  await before.ended()
  const restarted = await service.startApi()
  const again = createClient(restarted.address, testKeys.admin)
  const after = await openReader(t, streamUrl(id, restarted.address), { key, headers: { 'last-event-id': before.lastId() } })
  await after.next('log_append', data => data['message'] === 'line 59')
  t.match((await again.request<JobResponse>(`/v1/jobs/${id}`)).body.job, { status: 'running' })
  const cancelled = await again.request<JobResponse>(`/v1/jobs/${id}/cancel`, { method: 'POST' })
  t.match(cancelled.body, { ok: true, job: { id, status: 'cancelled' } })
  await after.ended()
  t.same(before.lines().concat(after.lines()), chatterLines(0, 60))
  t.same(after.events.at(-1)?.data, { reason: 'finished', status: 'cancelled' })
  const { job } = (await again.request<JobResponse>(`/v1/jobs/${id}`)).body
  t.match(job, { status: 'cancelled', result: null, attempts: 1, error: { code: 'JOB_CANCELLED', message: 'Job was cancelled' } })
  const { logs } = (await again.request<JobLogsResponse>(`/v1/jobs/${id}/logs`)).body
  t.same(logs.map(line => line.message.trim()), chatterLines(0, 60))
})
