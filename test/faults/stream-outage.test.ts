import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { openReader } from '../streams/event-reader.ts'
import { chatterEntry, chatterFiles, chatterLines } from '../streams/tools.ts'

t.test('fault 24, fault 26 Redis hangs in the middle of a stream: it stays open and misses nothing', async t => {
  const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env: { SSE_HEARTBEAT_SEC: '0.2' } })
  const { results: [result] } = await service.client.batch([{ call_id: 'c', name: 'chatter', arguments: { lines: 400, everyMs: 10, stopAt: 'go' } }], { mode: 'async' })
  const reader = await openReader(t, `${service.api.address}/v1/jobs/${result?.job_id}/stream`, { key: testKeys.read })
  await reader.next('log_append', data => data['message'] === 'line 20')
  process.kill(service.redis.pid(), 'SIGSTOP')
  try {
    const unread = await service.client.request(`/v1/jobs/${result?.job_id}/stream`)
    t.equal(unread.status, 503, 'a new stream is refused')
    t.notOk(reader.isEnded())
  } finally {
    process.kill(service.redis.pid(), 'SIGCONT')
  }
  await reader.next('log_append', data => data['message'] === 'line 399')
  await writeFile(join(service.dir, 'workspace/go'), '')
  await reader.ended()
  t.same(reader.lines(), chatterLines(0, 400))
  t.match(reader.events.at(-1)?.data, { reason: 'finished', status: 'succeeded' })
})

t.test('fault 28 Redis comes back without its data: the stream of a job that is gone ends as deleted', async t => {
  const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env: { SSE_HEARTBEAT_SEC: '0.2' } })
  const { results: [result] } = await service.client.batch([{ call_id: 'c', name: 'chatter', arguments: { lines: 1, stopAt: 'go' } }], { mode: 'async' })
  const reader = await openReader(t, `${service.api.address}/v1/jobs/${result?.job_id}/stream`, { key: testKeys.read })
  await reader.next('log_append')
  await service.redis.stop()
  const beats = reader.comments.length
  await waitFor('heartbeats without Redis', () => reader.comments.length > beats + 2)
  await service.redis.start()
  await reader.ended()
  t.same(reader.events.at(-1)?.data, { reason: 'deleted' })
  await writeFile(join(service.dir, 'workspace/go'), '')
})
