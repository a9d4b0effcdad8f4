import { connectRedis, isConnected, subscribe } from '@toolyard/store'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'

t.test('fault 24 a subscription that Redis refuses after a reconnect is made again, and ends no process', async t => {
  const server = await startTestRedis(t)
  const direct = await connectTo(t, server)
  const proxy = await startRedisProxy(t, { path: server.socket })
  const subscriber = connectRedis({ place: { kind: 'server', url: proxy.url } }, 'subscriber', () => {})
  t.teardown(() => { subscriber.disconnect() })
  t.ok(await isConnected(subscriber, 5_000))
  const heard: string[] = []
  await subscribe(subscriber, 'news', message => { heard.push(message) })
  const refused = proxy.failWhere('LOADING Redis is loading the dataset in memory', name => name === 'subscribe')
  await direct.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await refused
  proxy.mend()
  await waitFor('it hears again', async () => {
    await direct.publish('news', 'still here')
    return heard.includes('still here')
  })
  t.equal(subscriber.status, 'ready')
})
