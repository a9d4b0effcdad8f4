import t from 'tap'
import { reach, submit } from '../jobs/submission.ts'
import { createClient, type Answer, type Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'
import { createService, testKeys } from '../support/service.ts'

const service = await createService(t, {
  files: {
    'tools/bin/quick': '#!/bin/sh\necho "{}"\n',
    'tools/bin/large': '#!/bin/sh\nprintf \'"%0100000d"\' 0\n'
  },
  tools: ['quick', 'large'].map(name => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`] })),
  env: { MAX_JOBS_PER_KEY: '1000', RATE_LIMIT_PER_MINUTE: '100000' }
})
const proxy = await startRedisProxy(t, { path: service.redis.socket })
const api = await service.startApi({ REDIS_URL: proxy.url })
const broken = createClient(api.address, testKeys.admin)

const first = await submit(service.client, { type: 'agentcli.quick', tags: ['kept'] })
await reach(service.client, first.id, 'succeeded')

async function cancelled (to: Client): Promise<Answer> {
  const { id } = await submit(service.client, { type: 'agentcli.quick', queue: 'cancelled', delay_ms: 600_000 })
  return await to.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
}

const requests: Record<string, (to: Client, nth: number) => Promise<Answer>> = {
  'GET /v1/jobs': async to => await to.request('/v1/jobs?queue=default'),
  'GET /v1/jobs by tag': async to => await to.request('/v1/jobs?tag=kept&status=succeeded'),
  'GET /v1/jobs/:id': async to => await to.request(`/v1/jobs/${first.id}`),
  'GET /v1/jobs/:id/logs': async to => await to.request(`/v1/jobs/${first.id}/logs`),
  'POST /v1/jobs': async (to, nth) => await to.request('/v1/jobs', { body: { type: 'agentcli.quick', queue: 'posted', depends_on: [first.id] }, headers: { 'idempotency-key': `posted-${nth}` } }),
  'POST /v1/jobs/:id/cancel': cancelled,
  'POST /v1/agent-tools/invoke-batch': async (to, nth) => await to.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'quick' }, { call_id: 'b', name: 'quick' }], queue: 'batched', wait_ms: 1_000 }, headers: { 'idempotency-key': `batched-${nth}` } }),
  'GET /v1/agent-tools': async to => await to.request('/v1/agent-tools'),
  'GET /v1/job-types': async to => await to.request('/v1/job-types'),
  'PATCH /v1/job-types/:name': async to => await to.request('/v1/job-types/agentcli.quick', { method: 'PATCH', body: { enabled: true } }),
  'POST /v1/auth/sse-token': async to => await to.request('/v1/auth/sse-token', { body: { job_id: first.id } })
}

/** An event at one of a request's commands; resolves when that command has come. */
const meets: Record<string, (isThere: () => boolean) => Promise<void>> = {
  'a connection that breaks': async isThere => { await proxy.breakAt('before', isThere) },
  'a Redis that loads its data': async isThere => { await proxy.failWhere('LOADING Redis is loading the dataset in memory', isThere) },
  'a Redis without memory': async isThere => { await proxy.failWhere('OOM command not allowed when used memory > maxmemory.', isThere) }
}

let nth = 0
for (const [what, meet] of Object.entries(meets)) {
  void t.test(`fault 24 a request that meets ${what} at any of its commands is answered with what it asked for or 503`, { timeout: 300_000 }, async t => {
    for (const [name, send] of Object.entries(requests)) {
      for (let at = 1, isMet = true; isMet; at++) {
        await waitFor('the API is ready', async () => (await broken.request('/ready')).status === 200)
        isMet = false
        let commands = 0
        void meet(() => ++commands >= at).then(() => { isMet = true })
        const { status, text } = await send(broken, ++nth)
        proxy.mend()
        t.ok((status < 500 || status === 503) && !text.includes('INTERNAL'), `${name}, command ${at}: ${status} ${text.slice(0, 300)}`)
      }
    }
  })
}

void t.test('a call whose tool has ended, and whose output Redis does not give, says that the job has ended', async t => {
  await waitFor('the API is ready', async () => (await broken.request('/ready')).status === 200)
  void proxy.failWhere('LOADING Redis is loading the dataset in memory', name => name === 'getrange')
  const { body } = await broken.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'large' }], wait_ms: 20_000 } })
  proxy.mend()
  t.match(body, { results: [{ ok: false, pending: true, error: { code: 'TIMEOUT', message: /^Job \S+ has ended, its output can't be read now$/ } }] })
})
