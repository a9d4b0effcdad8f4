import { SessionLeases, Sessions } from '@toolyard/store'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { warningsOf } from '../support/warnings.ts'

/* Node.js takes the eleventh listener of an emitter or a signal for a leak. */

void t.test('any number of calls that are in one session at a time may listen for its removal', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const session = await new Sessions(redis).make({ tenant: undefined, keyName: 'k', ttlSec: 60, quotaBytes: 1, from: undefined })
  if (session === 'full' || 'bytesLeft' in session) return t.fail('there is no session')
  const leases = new SessionLeases(redis)
  const warnings = await warningsOf(async () => {
    for (let call = 0; call < 12; call++) {
      const stay = await leases.enter(session.id, undefined)
      stay?.signal.addEventListener('abort', () => {})
    }
  })
  t.same(warnings, [])
})
