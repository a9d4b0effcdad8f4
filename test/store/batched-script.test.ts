import { BatchedScript, eachCall, type Redis } from '@toolyard/store'
import t from 'tap'
import type { Test } from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

async function connect (t: Test): Promise<Redis> {
  return await connectTo(t, await startTestRedis(t))
}

const append = new BatchedScript('append', eachCall("return redis.call('APPEND', KEYS[1], KEYS[2] .. ARGV[1] .. (ARGV[2] or ''))"))

t.test('each call has its own keys and arguments, and its own reply', async t => {
  const redis = await connect(t)
  const replies = await append.run(redis, [
    { keys: ['a', 'x'], args: ['1'] },
    { keys: ['b', 'a'], args: [2, Buffer.from([0, 255])] },
    { keys: ['a', 'b'], args: ['3'] }
  ])
  t.same(replies, [2, 4, 4])
  t.equal(await redis.get('a'), 'x1b3')
  t.same(await redis.getBuffer('b'), Buffer.from([0x61, 0x32, 0, 255]))
})

t.test('a call that Redis refuses doesn\'t affect the other calls', async t => {
  const redis = await connect(t)
  await redis.sadd('set', 'x')
  const [first, refused, last] = await append.run(redis, [{ keys: ['a', 'x'], args: ['1'] }, { keys: ['set', 'x'], args: ['1'] }, { keys: ['a', 'x'], args: ['1'] }])
  t.same([first, last], [2, 4])
  t.match(refused, { message: /^WRONGTYPE / })
})

t.test('on a server that takes no writes the whole command fails, so that the connection looks for another server', async t => {
  const redis = await connectTo(t, await startTestRedis(t), 'request')
  await redis.call('REPLICAOF', '127.0.0.1', '1')
  await t.rejects(append.run(redis, [{ keys: ['a', 'x'], args: ['1'] }]), /^READONLY /)
})

t.test('any number of calls is answered in order', async t => {
  const redis = await connect(t)
  const calls = Array.from({ length: 120 }, (_, place) => ({ keys: [`key${place}`, 'x'.repeat(place)], args: [''] }))
  t.same(await append.run(redis, calls), calls.map((_, place) => place))
})

t.test('when one of several commands fails, calls of the other commands keep their replies', async t => {
  const redis = await connect(t)
  const calls = Array.from({ length: 60 }, (_, place) => ({ keys: [`key${place}`, 'x'], args: [''] }))
  await append.run(redis, [{ keys: ['other', 'x'], args: [''] }])
  const run = (redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)['toolyard:append']?.bind(redis)
  let sent = 0
  Object.assign(redis, {
    'toolyard:append': async (...args: unknown[]) => {
      sent += 1
      if (sent === 2) throw new Error('gone')
      return await run?.(...args)
    }
  })
  const replies = await append.run(redis, calls)
  t.same(replies.slice(0, 50), calls.slice(0, 50).map(() => 1))
  for (const reply of replies.slice(50)) t.match(reply, { message: 'gone' })
  t.equal(replies.length, 60)
})

t.test('a server that has forgotten the script gets it again', async t => {
  const redis = await connect(t)
  await append.run(redis, [{ keys: ['a', 'x'], args: ['1'] }])
  await redis.script('FLUSH')
  t.same(await append.run(redis, [{ keys: ['a', 'x'], args: ['1'] }]), [4])
})
