import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { post, reach, submit } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { createService, makeKeys } from '../support/service.ts'
import { callbackEnv, startReceiver } from './receiver.ts'

t.setTimeout(180_000)

const most = 20
const { keys, API_KEYS_JSON } = makeKeys({ noisy: { tenant: 'noisy' }, quiet: { tenant: 'quiet' } })
const receiver = await startReceiver(t, { '/broken': [500] })
const service = await createService(t, {
  files: programs,
  tools: entries,
  env: { ...callbackEnv, API_KEYS_JSON, MAX_JOBS_PER_KEY: String(most), JOB_RETENTION_COUNT: '3', CALLBACK_ATTEMPTS: '5' }
})
const redis = plainRedis(t, service.redis)
const noisy = createClient(service.api.address, keys.noisy)
const quiet = createClient(service.api.address, keys.quiet)
const broken = { type: 'agentcli.echo', callback_url: `${receiver.url}/broken` }

t.test('a tenant whose callbacks nobody takes gets no more of them than jobs, and others get theirs', async t => {
  let submitted = 0
  const refused = await waitFor('a call with a callback is refused', async () => {
    const answer = await post(noisy, broken)
    if (answer.status === 201) await reach(noisy, answer.body.job.id, 'succeeded')
    submitted += 1
    return answer.status !== 201 && answer
  }, 60_000)
  t.match(refused, { status: 429, body: { error: { message: `Tenant 'noisy' has ${most} callbacks that their receivers have not taken yet, the most that one may have` } } })
  t.ok(submitted >= most, `${submitted} were submitted`)
  t.ok(await redis.zcard('toolyard:{+callbacks}:delayed') <= most + 1)
  await submit(noisy, { type: 'agentcli.echo' })
  await submit(quiet, { type: 'agentcli.echo', callback_url: `${receiver.url}/quiet` })
  await receiver.at('/quiet')
})

t.test('a callback that is sent when its job is no longer kept leaves no log', async t => {
  const logs = await redis.keys('toolyard:{default}:*:log')
  const ages = await Promise.all(logs.map(async log => ({ isKept: await redis.exists(log.replace(/:log$/, '')) === 1, sec: await redis.ttl(log) })))
  t.ok(ages.some(({ isKept }) => !isKept), 'logs of jobs that are gone')
  t.same(ages.filter(({ isKept, sec }) => !isKept && sec > 60), [])
})

t.test('once they are taken or given up there is room again', async () => {
  await waitFor('a call with a callback is taken', async () => (await post(noisy, { ...broken, callback_url: `${receiver.url}/taken` })).status === 201, 60_000)
  await receiver.at('/taken')
  await waitFor('those that were taken are not counted', async () => await redis.zcard('toolyard:open:@callbacks @quiet') === 0, 30_000)
})
