import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { testKeys } from '../support/service.ts'
import { openReader } from '../streams/event-reader.ts'
import { createChatter, chatterLines } from '../streams/tools.ts'
import { plainRedis } from '../support/connection.ts'

const { service, submit, streamUrl, release } = await createChatter(t)
const key = testKeys.read
const redis = plainRedis(t, service.redis)

t.test('fault 43 as many streams as a process may hold are served, one more is a 503', async t => {
  const small = await service.startApi({ MAX_STREAMS: '2' })
  const id = await submit({ stopAt: 'go-6' })
  const first = await openReader(t, streamUrl(id, small.address), { key })
  const second = await openReader(t, streamUrl(id, small.address), { key })
  t.same([first.status, second.status], [200, 200])
  const third = await openReader(t, streamUrl(id, small.address), { key })
  t.equal(third.status, 503)
  t.equal(third.headers['retry-after'], '1')
  await waitFor('its body', () => third.text() !== '')
  t.match(JSON.parse(third.text()), { ok: false, error: { code: 'UNAVAILABLE', message: /MAX_STREAMS/ } })
  first.close()
  await waitFor('there is room again', async () => (await openReader(t, streamUrl(id, small.address), { key })).status === 200)
  await release('go-6')
})

t.test('fault 43 a reader that does not read is disconnected, and resumes without missing or repeated lines', async t => {
  const lines = 2_000
  const id = await submit({ lines, pad: 3_900, stopAt: 'go-7' })
  await waitFor('the whole log is there', async () => await redis.xlen(`toolyard:{default}:${id}:log`) >= lines)
  const slow = await openReader(t, streamUrl(id), { key })
  slow.pause()
  await waitFor('the service drops it', async () => (await redis.call('PUBSUB', 'NUMSUB', `toolyard:job:${id}`) as unknown[])[1] === 0)
  slow.resume()
  await slow.ended()
  const taken = slow.lines().length
  t.ok(taken > 0 && taken < lines, `${taken} lines were taken before`)
  await release('go-7')
  const resumed = await openReader(t, streamUrl(id), { key, headers: { 'last-event-id': slow.lastId() } })
  await resumed.ended()
  const numbers = slow.lines().concat(resumed.lines()).map(line => Number(line.split(' ')[1]))
  t.same(numbers, Array.from({ length: lines }, (_, index) => index))
})

t.test('many streams share the connections of the process, and leave no subscription behind', async t => {
  const count = async (): Promise<number> => (await redis.call('CLIENT', 'LIST') as string).trim().split('\n').length
  const channels = async (): Promise<unknown[]> => await redis.call('PUBSUB', 'CHANNELS', 'toolyard:job:*') as unknown[]
  await waitFor('earlier streams are closed', async () => (await channels()).length === 0)
  const before = await count()
  const ids = await Promise.all(Array.from({ length: 4 }, (_, index) => submit({ lines: index, stopAt: 'go-8' })))
  const readers = await Promise.all(ids.flatMap(id => Array.from({ length: 10 }, () => openReader(t, streamUrl(id), { key }))))
  await waitFor('all are subscribed', async () => (await channels()).length === 4)
  t.equal(await count(), before)
  await release('go-8')
  await Promise.all(readers.map(reader => reader.ended()))
  for (const [index, reader] of readers.entries()) t.same(reader.lines(), chatterLines(0, Math.floor(index / 10)))
  await waitFor('no subscription is left', async () => (await channels()).length === 0)
})
