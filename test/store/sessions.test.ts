import { SessionLeases, Sessions } from '@toolyard/store'
import { Redis } from 'ioredis'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startNetworkProxy } from '../support/network-proxy.ts'
import { startTestRedis } from '../support/redis.ts'

const hourMs = 3_600_000

t.test('a process whose clock is ahead, and that knows nothing of Redis\' clock yet, ends no session', async t => {
  const server = await startTestRedis(t)
  const made = await new Sessions(await connectTo(t, server)).make({ tenant: undefined, keyName: 'k', ttlSec: 3_600, quotaBytes: 1_000, from: undefined })
  if (typeof made === 'string' || !('id' in made)) return t.fail('no session')
  const unmeasured = new Redis(server.url)
  t.teardown(() => { unmeasured.disconnect() })
  await unmeasured.ping()
  const now = Date.now
  t.teardown(() => { Date.now = now })
  Date.now = () => now() + 2 * hourMs
  const used = await new Sessions(unmeasured).use(made.id, undefined)
  t.match(used, { state: 'open' })
  t.ok((used?.usedAt ?? Infinity) < now() + hourMs, 'the time of its use is by the clock of Redis')
})

t.test('a process that is cut off from Redis ends its calls in a session before the session may be removed', async t => {
  const server = await startTestRedis(t)
  const redis = await connectTo(t, server)
  const sessions = new Sessions(redis)
  const made = await sessions.make({ tenant: undefined, keyName: 'k', ttlSec: 3_600, quotaBytes: 1_000, from: undefined })
  if (typeof made === 'string' || !('id' in made)) return t.fail('no session')
  const network = await startNetworkProxy(t, [{ to: { path: server.socket } }])
  const far = { ...server, url: `redis://127.0.0.1:${String(network.ports[0])}` }
  const leases = new SessionLeases(await connectTo(t, far))
  leases.start(await connectTo(t, far, 'subscriber'))
  t.teardown(() => { leases.stop() })
  const stay = await leases.enter(made.id, undefined)
  if (stay === undefined) return t.fail('no stay')
  network.hold()
  await sessions.remove(made.id, undefined)
  const looking = new SessionLeases(redis)
  const wasEnded = await waitFor('it may be removed', async () => {
    const isEnded = stay.signal.aborted
    return (await looking.removable()).includes(made.id) && { isEnded }
  })
  t.same(wasEnded, { isEnded: true })
})

t.test('the quotas of an owner with many sessions are added up once, not for each session that is made', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const sessions = new Sessions(redis)
  const asked = { tenant: 'acme', keyName: 'k', ttlSec: 3_600, quotaBytes: 1, from: undefined }
  const most = 1_000
  const make = async (quotaBytes = 1): ReturnType<Sessions['make']> => await sessions.make({ ...asked, quotaBytes }, most)
  const made: string[] = []
  for (let at = 0; at < 300; at++) {
    const session = await make()
    if (typeof session !== 'string' && 'id' in session) made.push(session.id)
  }
  const readsOf = async (work: () => Promise<unknown>): Promise<number> => {
    await redis.config('RESETSTAT')
    await work()
    return Number(/cmdstat_hget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
  }
  t.same(await make(701), { bytesLeft: 700 })
  t.equal(await redis.persist('toolyard:{sessions}:quotas:@acme'), 1, 'the sum is kept for a while')
  t.ok(await readsOf(async () => {
    for (let at = 0; at < 20; at++) t.same(await make(701), { bytesLeft: 700 })
  }) < 20)
  const leases = new SessionLeases(redis)
  await sessions.remove(made[0] ?? '', 'acme')
  t.same(await make(701), { bytesLeft: 700 }, 'until its files are removed a session counts')
  await leases.forget([made[0] ?? ''])
  t.match(await make(701), { quotaBytes: 701 })
  t.same(await make(1), { bytesLeft: 0 })
  await redis.del('toolyard:{sessions}:quotas:@acme')
  t.same(await make(1), { bytesLeft: 0 }, 'counted anew')
})
