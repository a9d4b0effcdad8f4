import type { JobLogsResponse, JobResponse } from '@toolyard/contract'
import t from 'tap'
import { createClient } from '../support/client.ts'
import { testKeys } from '../support/service.ts'
import { openReader } from '../streams/event-reader.ts'
import { createChatter, chatterLines } from '../streams/tools.ts'

const { service, submit, streamUrl, release } = await createChatter(t)
const key = testKeys.read

t.test('R41, fault 43 two API processes show the same job; one is killed and started again: its reader resumes without missing or repeated lines', async t => {
  const other = await service.startApi()
  const id = await submit({ lines: 120, everyMs: 10, stopAt: 'go-2' })
  const steady = await openReader(t, streamUrl(id), { key })
  const before = await openReader(t, streamUrl(id, other.address), { key })
  await before.next('log_append', data => data['message'] === 'line 30')
  await other.stop('SIGKILL')
  await before.ended()
  const restarted = await service.startApi()
  const after = await openReader(t, streamUrl(id, restarted.address), { key, headers: { 'last-event-id': before.lastId() } })
  await after.next('log_append', data => data['message'] === 'line 119')
  await release('go-2')
  await Promise.all([after.ended(), steady.ended()])
  t.same(before.lines().concat(after.lines()), chatterLines(0, 120))
  t.same(steady.lines(), chatterLines(0, 120))
  t.same(after.events.at(-1)?.data, { reason: 'finished', status: 'succeeded' })
  t.same(after.events.at(-1)?.data, steady.events.at(-1)?.data)
  const read = createClient(restarted.address, key)
  const { job } = (await read.request<JobResponse>(`/v1/jobs/${id}`)).body
  t.same(after.events.at(-2)?.data, { job }, 'the last update is the job as it can be read')
  const { logs } = (await read.request<JobLogsResponse>(`/v1/jobs/${id}/logs`)).body
  t.same(logs, steady.events.filter(({ name }) => name === 'log_append').map(({ data }) => data))
})

t.test('an API process that stops closes its streams without an end event, so that readers reconnect elsewhere', async t => {
  const other = await service.startApi()
  const id = await submit({ lines: 1, stopAt: 'go-3' })
  const reader = await openReader(t, streamUrl(id, other.address), { key })
  await reader.next('log_append')
  t.equal(await other.stop(), 0)
  await reader.ended()
  t.equal(reader.comments.at(-1), ': the service is stopping; connect again')
  t.notOk(reader.events.some(({ name }) => name === 'end'))
  await release('go-3')
})
