import { setTimeout as delay } from 'node:timers/promises'
import type { Lookup } from '@toolyard/runtime/outgoing'
import { connectRedis, isConnected } from '@toolyard/store'
import t from 'tap'
import { startNetworkProxy } from '../support/network-proxy.ts'
import { startTestRedis } from '../support/redis.ts'

t.test('a server whose name takes longer to be found than a connection may is reached, and one that is not found is looked up again', async t => {
  const { socket } = await startTestRedis(t)
  const { ports: [port] } = await startNetworkProxy(t, [{ to: { path: socket } }])
  const asked: string[] = []
  let answer: Error | null = null
  const lookup: Lookup = (host, _options, callback) => {
    asked.push(host)
    void delay(3_000).then(() => { callback(answer, answer === null ? [{ address: '127.0.0.1', family: 4 }] : []) })
  }
  const errors: string[] = []
  const redis = connectRedis({ place: { kind: 'server', url: `redis://redis.example.test:${port}` } }, 'request', error => { errors.push(error.message) }, lookup)
  t.teardown(() => { redis.disconnect() })
  t.ok(await isConnected(redis, 20_000), 'found after 3 s')
  t.equal(await redis.ping(), 'PONG')
  t.same(errors, [])
  answer = Object.assign(new Error('lookup EAI_AGAIN redis.example.test'), { code: 'EAI_AGAIN' })
  redis.disconnect(true)
  await new Promise(resolve => { redis.once('error', resolve) })
  answer = null
  t.ok(await isConnected(redis, 20_000))
  t.same(new Set(asked), new Set(['redis.example.test']))
  t.match(errors, ['lookup EAI_AGAIN redis.example.test'])
})
