import { ShownFiles } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

t.test('a file is new to a session once, whichever worker asks, and again after some days without any', async t => {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const workers = [new ShownFiles(redis), new ShownFiles(await connectTo(t, server))]
  const asked = await Promise.all(workers.flatMap(files => [files.isFirst('s1', '/w/AGENTS.md'), files.isFirst('s1', '/w/AGENTS.md')]))
  t.equal(asked.filter(isFirst => isFirst).length, 1)
  t.equal(await workers[1]?.isFirst('s1', '/w/other/AGENTS.md'), true)
  t.equal(await workers[1]?.isFirst('s2', '/w/AGENTS.md'), true)
  const [key = ''] = (await redis.keys('*shown:s1'))
  t.ok(await redis.ttl(key) > 86_400)
})

t.test('of a session that was shown very many files all are forgotten', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const files = new ShownFiles(redis)
  await files.isFirst('s', '0')
  const [key = ''] = await redis.keys('*shown:s')
  await redis.sadd(key, ...Array.from({ length: 10_000 }, (_, at) => `x${at}`))
  t.equal(await files.isFirst('s', '1'), true)
  t.equal(await redis.exists(key), 0)
})
