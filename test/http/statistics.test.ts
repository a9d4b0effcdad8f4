import t from 'tap'
import type { Statistics } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({
  admin: { name: 'operator' },
  limited: { role: 'read', queue_allowlist: ['allowed', 'unused'] },
  acme: { name: 'acme-app', tenant: 'acme' },
  other: { name: 'other-app', tenant: 'other' }
})
const service = await injectService(t, {
  files: programs,
  tools: entries,
  env: { API_KEYS_JSON }
})
const { client } = service
async function read (query = '', key: string = testKeys.admin): Promise<Statistics> {
  return (await client.request<Statistics>(`/v1/stats${query}`, { key })).body
}
function names (list: ReadonlyArray<{ name: string | null, calls: number }>): Array<[string | null, number]> {
  return list.map(({ name, calls }) => [name, calls])
}

const made = [
  ...await Promise.all([1, 2, 3].map(() => submit(client, { type: 'agentcli.echo', input: { word: 'é' } }))),
  await submit(client, { type: 'agentcli.fail' }),
  ...await Promise.all([1, 2].map(() => submit(client, { type: 'agentcli.echo', queue: 'allowed' }, { key: keys.acme })))
]
for (const { id } of made) await reach(client, id, 'succeeded', 'failed')
await waitFor('all are counted', async () => (await read()).total.calls === 6)

t.test('an operator sees how many calls ended and failed, by tool, queue, key and minute, and what each key used', async t => {
  const stats = await read()
  const times = { p50: Number, p95: Number }
  t.match(stats.total, { calls: 6, errors: 1, cancelled: 0, error_rate: 0.1667, waiting_ms: times, running_ms: times })
  t.same(names(stats.tools), [['echo', 5], ['fail', 1]])
  t.same(names(stats.queues), [['default', 4], ['allowed', 2]])
  t.same(names(stats.keys), [['operator', 4], ['acme-app', 2]])
  t.equal(stats.minutes.reduce((sum, { calls }) => sum + calls, 0), 6)
  t.equal((await read('?tool=fail')).minutes.reduce((sum, { errors }) => sum + errors, 0), 1)
  t.same((await read('?key=nobody')).minutes, [])
  t.same(stats.usage.map(({ tool, key, tenant, calls, output_bytes: bytes }) => [tool, key, tenant, calls, bytes]).sort(), [
    ['echo', 'acme-app', 'acme', 2, 4],
    ['echo', 'operator', undefined, 3, 3 * Buffer.byteLength('{"word":"é"}')],
    ['fail', 'operator', undefined, 1, 0]
  ])
  for (const { seconds } of stats.usage) t.ok(seconds > 0)
})

t.test('a day says the same as an hour, from the hours', async t => {
  const day = await read('?minutes=1440')
  t.match(day, { from: /:00:00.000Z$/, total: { calls: 6, errors: 1 } })
  t.same(names(day.tools), [['echo', 5], ['fail', 1]])
  t.equal(day.minutes.reduce((sum, { calls }) => sum + calls, 0), 6)
})

t.test('a key of a tenant sees only the statistics of its tenant, and an operator can ask for them', async t => {
  for (const stats of [await read('', keys.acme), await read('?tenant=acme'), await read('?tenant=acme&minutes=600', keys.acme)]) {
    t.match(stats.total, { calls: 2, errors: 0 })
    t.same(names(stats.tools), [['echo', 2]])
    t.same(names(stats.queues), [['allowed', 2]])
    t.same(names(stats.keys), [['acme-app', 2]])
    t.same(stats.usage.map(({ key }) => key), ['acme-app'])
  }
  const total = { calls: 0, error_rate: null, running_ms: { p50: null } }
  const nothing = { total, tools: [], queues: [], keys: [], minutes: [], usage: [] }
  t.match(await read('', keys.other), nothing)
  t.match(await read('?tenant=acme', keys.other), nothing)
  t.same((await read('?key=acme-app', keys.other)).minutes, [])
})

t.test('a key that is bound to queues sees the statistics of these', async t => {
  const stats = await read('', testKeys.limited)
  t.match(stats, { total: { calls: 2 }, tools: [], keys: [], usage: [] })
  t.same(names(stats.queues), [['allowed', 2]])
  t.equal(stats.minutes.reduce((sum, { calls }) => sum + calls, 0), 2)
  for (const query of ['?queue=default', '?tool=echo', '?key=operator']) {
    t.equal((await client.request(`/v1/stats${query}`, { key: testKeys.limited })).status, 403)
  }
})

t.test('an unknown parameter of statistics is a 400', async t => {
  for (const query of ['?minutes=0', '?minutes=1441', '?minutes=1.5', '?hours=1', '?tool=a&queue=b', '?tool=', '?tenant=%7C', '?tool=a&tool=b']) {
    t.match(await client.request(`/v1/stats${query}`), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, query)
  }
})

t.test('how many jobs run and wait is counted by the minute, for who sees all of them', async t => {
  await client.request('/v1/queues/allowed', { method: 'PATCH', body: { paused: true } })
  await submit(client, { type: 'agentcli.echo', queue: 'allowed' })
  await waitFor('the next count', async () => (await read()).jobs?.some(({ waiting }) => waiting === 1) === true, 30_000)
  t.match((await read('?minutes=1440')).jobs, [{ at: /:00\.000Z$/, running: 0 }])
  for (const [query, key] of [['?tool=echo'], ['?tenant=acme'], ['', keys.acme], ['', testKeys.limited]]) t.notHas(await read(query, key), { jobs: [] }, `${query} ${key}`)
})

t.test('the statistics of a tenant wait for few of another one, however many that asks for', async t => {
  const redis = plainRedis(t, service.redis)
  const hour = Math.floor(Date.now() / 3_600_000)
  const usage = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [JSON.stringify(['acme', 'acme-app', `tool_${at}`]), '[1,1,1]']))
  for (let back = 1; back < 24; back++) await redis.hset(`toolyard:{statistics}:usage:${hour - back}`, usage)
  let answered = 0
  const many = Array.from({ length: 30 }, async () => {
    await read('?minutes=1440', keys.acme)
    answered += 1
  })
  await Promise.race(many)
  await read('?minutes=1440', keys.other)
  t.ok(answered < 15, `${answered} of 30 were answered before`)
  await Promise.all(many)
})
