import type { JobLogsResponse } from '@toolyard/contract'
import { jobKey, jobLogKey } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService, testKeys } from '../support/service.ts'
import { chatterEntry, chatterFiles, chatterLines } from './tools.ts'

const service = await createService(t, { files: chatterFiles, tools: [chatterEntry] })
const { client } = service
const redis = plainRedis(t, service.redis)

const run = async (args: object): Promise<string> => {
  const { results: [result] } = await client.batch([{ call_id: 'c', name: 'chatter', arguments: args }], { mode: 'async' })
  const id = result?.job_id ?? ''
  await waitFor('the job has ended', async () => (await client.request<{ job: { status: string } }>(`/v1/jobs/${id}`)).body.job.status === 'succeeded')
  return id
}
const logsOf = async (id: string, query = ''): Promise<JobLogsResponse> => (await client.request<JobLogsResponse>(`/v1/jobs/${id}/logs${query}`, { key: testKeys.read })).body
const messages = (logs: JobLogsResponse): string[] => logs.logs.map(({ message }) => message)

t.test('RC19 the last lines of a log, 200 of them unless asked for otherwise, the oldest first', async t => {
  const id = await run({ lines: 250 })
  const logs = await logsOf(id)
  t.equal(logs.count, 200)
  t.same(messages(logs), chatterLines(50, 250))
  t.same(messages(await logsOf(id, '?tail=3')), chatterLines(247, 250))
  t.same(messages(await logsOf(id, '?tail=2000')), chatterLines(0, 250))
  const ids = logs.logs.map(line => line.id)
  t.same([...new Set(ids)].length, 200)
})

t.test('RC19, B28 a tail that is no number of lines is a 400', async t => {
  const id = await run({})
  for (const tail of ['0', '-1', '2001', '1.5', 'all', '', '1&tail=2']) {
    const answer = await client.request(`/v1/jobs/${id}/logs?tail=${tail}`)
    t.equal(answer.status, 400, tail)
    t.match(answer.body, { error: { code: 'VALIDATION_ERROR', message: "'tail' must be an integer 1..2000" } })
  }
})

t.test('lines of a job that runs are kept while its record is away, as in a failover', async t => {
  const { results: [result] } = await client.batch([{ call_id: 'c', name: 'chatter', arguments: { lines: 50, everyMs: 40 } }], { mode: 'async' })
  const id = result?.job_id ?? ''
  const [record, log] = [jobKey('default', id), jobLogKey('default', id)]
  await waitFor('the first line is there', async () => await redis.xlen(log) > 0)
  await redis.rename(record, `${record}-away`)
  const before = await redis.xlen(log)
  await waitFor('the log goes on', async () => await redis.xlen(log) > before + 2)
  await redis.rename(`${record}-away`, record)
  await waitFor('the last line is there', async () => await redis.xlen(log) === 50)
  t.same(messages(await logsOf(id)), chatterLines(0, 50))
})

t.test('a job without lines has an empty log', async t => {
  t.same(await logsOf(await run({})), { ok: true, logs: [], count: 0 })
})

t.test('fault 36 the log of an unknown or foreign job is a 404', async t => {
  const id = await run({ lines: 1 })
  for (const answer of [await client.request('/v1/jobs/x/logs'), await client.request(`/v1/jobs/${id}/logs`, { key: testKeys.limited })]) {
    t.equal(answer.status, 404)
    t.same(answer.body, { ok: false, error: { code: 'NOT_FOUND', message: 'Job not found' }, request_id: answer.headers.get('x-request-id') })
  }
})

t.test('fault 3 a log has a bound and an end', async t => {
  const id = await run({ lines: 4_000, pad: 5_000 })
  const key = `toolyard:{default}:${id}:log`
  t.ok(await redis.xlen(key) <= 2_100)
  t.ok(await redis.ttl(key) > 3_600)
  const { logs } = await logsOf(id, '?tail=2000')
  t.ok(logs.every(({ message }) => message.length <= 4_096))
})
