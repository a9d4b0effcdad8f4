import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { reach, submit } from '../jobs/submission.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'
import { createService } from '../support/service.ts'

/** Longer than the lock of a job. */
const refusedMs = 5_000

void t.test('fault 24 when Redis refuses an outcome for 5 s but renews its lock, the outcome is stored afterwards', { timeout: 120_000 }, async t => {
  const service = await createService(t, {
    files: { 'tools/bin/marked': '#!/bin/sh\necho "{\\"is\\":\\"marked-5813\\"}"\n' },
    tools: [{ name: 'marked', schema: { type: 'object' }, command: ['./tools/bin/marked'] }],
    workers: 0
  })
  const proxy = await startRedisProxy(t, { path: service.redis.socket })
  await service.startWorker({ REDIS_URL: proxy.url })
  const refused = proxy.failWhere('TRYAGAIN Multiple keys request during rehashing of slot', (_name, args) => args.some(arg => arg.includes('marked-5813')))
  const { id } = await submit(service.client, { type: 'agentcli.marked' })
  await refused
  // Looks for lost jobs.
  await service.startWorker()
  await delay(refusedMs)
  proxy.mend()
  t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded', result: { is: 'marked-5813' }, attempts: 1 })
})
