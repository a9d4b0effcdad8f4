import { Sessions } from '@toolyard/store'
import { Redis } from 'ioredis'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
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
