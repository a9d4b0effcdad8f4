import t from 'tap'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

t.test('a session of the dashboard ends after DASHBOARD_SESSION_SEC, whatever its cookie still says', async t => {
  const { app } = await injectService(t, { workers: 0, env: { DASHBOARD_SESSION_SEC: '3600' } })
  const login = await app.inject({
    method: 'POST',
    url: '/dashboard/login',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    payload: `key=${testKeys.admin}`
  })
  t.equal(login.statusCode, 303)
  t.match(login.headers['set-cookie'], /Max-Age=3600;/)
  const cookie = String(login.headers['set-cookie']).split(';', 1)[0] ?? ''
  const statusNow = async (): Promise<number> => (await app.inject({ url: '/dashboard/api/queues', headers: { cookie } })).statusCode
  t.equal(await statusNow(), 200)
  // The API takes Redis' time from its own monotonic clock.
  const clock = performance.now.bind(performance)
  t.teardown(() => { performance.now = clock })
  performance.now = () => clock() + 3_000_000
  const before = await statusNow()
  performance.now = () => clock() + 3_600_001
  const after = await statusNow()
  performance.now = clock
  t.same([before, after], [200, 401])
})
