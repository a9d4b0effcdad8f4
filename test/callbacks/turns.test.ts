import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { submit } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService, makeKeys } from '../support/service.ts'
import { callbackEnv, startReceiver } from './receiver.ts'

t.setTimeout(180_000)

/** Callbacks that a worker sends at once. */
const places = 64
const crowd = 6 * places
const { keys, API_KEYS_JSON } = makeKeys({ noisy: { tenant: 'noisy' }, quiet: { tenant: 'quiet' } })
const receiver = await startReceiver(t, { '/hanging': [0] })
const service = await createService(t, {
  files: programs,
  tools: entries,
  env: {
    ...callbackEnv,
    API_KEYS_JSON
  }
})
const redis = plainRedis(t, service.redis)
const stem = 'toolyard:{+callbacks}:'

t.test('callbacks of one tenant that nobody answers don\'t make another tenant\'s callback wait for all of them', async t => {
  const noisy = createClient(service.api.address, keys.noisy)
  for (let count = 0; count < crowd; count += 32) {
    await Promise.all(Array.from({ length: 32 }, () => submit(noisy, { type: 'agentcli.echo', delay_ms: 600_000, queue: 'noisy', callback_url: `${receiver.url}/hanging` })))
  }
  t.equal((await noisy.request('/v1/bulk', { body: { action: 'cancel', filter: { queue: 'noisy' } } })).status, 202)
  await receiver.at('/hanging', places)
  await waitFor('the others wait', async () => await redis.llen(`${stem}wait`) + await redis.zcard(`${stem}prioritized`) + await redis.zcard(`${stem}delayed`) >= crowd - places, 60_000)
  const hanging = (): number => receiver.received.filter(({ path }) => path === '/hanging').length
  const sent = hanging()
  await submit(createClient(service.api.address, keys.quiet), { type: 'agentcli.echo', callback_url: `${receiver.url}/quiet` })
  await receiver.at('/quiet')
  const before = hanging() - sent
  // As many as are begun when those end that were being sent, and once more while the job ran.
  t.ok(before <= 2 * places, `${before} of ${crowd} callbacks of the other tenant were sent before`)
  const ids = receiver.received.filter(({ path }) => path === '/hanging').slice(0, places).map(({ body }) => body.id)
  const gaveWay = async (id: string): Promise<boolean> => (await noisy.request(`/v1/jobs/${id}/logs`)).text.includes('failed: no answer within 2000 ms while all places were taken')
  await waitFor('those that hang make room long before their time is over', async () => (await Promise.all(ids.map(gaveWay))).includes(true))
})
