import { ADDRCONFIG } from 'node:dns'
import { connect, createServer, type AddressInfo, type LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connectRedis, isConnected } from '@toolyard/store'
import t from 'tap'
import { startNetworkProxy } from '../support/network-proxy.ts'
import { startTestRedis } from '../support/redis.ts'

t.test('a server whose name takes longer to be found than a connection may is reached, and one that is not found is looked up again', async t => {
  const { socket } = await startTestRedis(t)
  const { ports: [port] } = await startNetworkProxy(t, [{ to: { path: socket } }])
  const asked: string[] = []
  let answer: Error | null = null
  const lookup: LookupFunction = (host, _options, callback) => {
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

t.test('a name is looked up with what the URL says of addresses, and only for kinds that this machine has', async t => {
  const asked: object[] = []
  const lookup: LookupFunction = (_host, options, callback) => {
    asked.push(options)
    callback(Object.assign(new Error('lookup ENOTFOUND'), { code: 'ENOTFOUND' }), [])
  }
  for (const query of ['?family=6', '']) {
    const redis = connectRedis({ place: { kind: 'server', url: `redis://redis.example.test${query}` } }, 'request', () => {}, lookup)
    await new Promise(resolve => { redis.once('error', resolve) })
    redis.disconnect()
  }
  t.match(asked[0], { family: 6 })
  t.match(asked.at(-1), { family: 0, hints: ADDRCONFIG, all: true })
})

t.test('a connection that is closed while its name is looked up ends, and reaches nobody afterwards', async t => {
  const reached: unknown[] = []
  const server = createServer(socket => { reached.push(socket.destroy()) })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.close() })
  const { port } = server.address() as AddressInfo
  let answer = (): void => {}
  const errors: Error[] = []
  const redis = connectRedis({ place: { kind: 'server', url: `redis://redis.example.test:${port}` } }, 'request', error => { errors.push(error) }, (_host, _options, callback) => {
    answer = () => { callback(null, [{ address: '127.0.0.1', family: 4 }]) }
  })
  const ended = new Promise(resolve => { redis.once('end', resolve) })
  redis.disconnect()
  await ended
  answer()
  await new Promise(resolve => { connect(port, '127.0.0.1').once('close', resolve) })
  t.equal(reached.length, 1, 'who came after it alone')
  t.same([redis.status, errors], ['end', []])
})
