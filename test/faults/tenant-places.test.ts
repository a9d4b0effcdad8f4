import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, type Service } from '../support/service.ts'
import { reach, submit } from '../jobs/submission.ts'
import { plainRedis } from '../support/connection.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'

const { keys, API_KEYS_JSON } = makeKeys({ admin: { name: 'operator' }, acme: { tenant: 'acme' }, other: { tenant: 'other' } })
/** Notes when it begins and ends, and goes on when a file is there. */
const noted = `#!/bin/sh
cat > /dev/null
echo begin >> noted
while [ ! -e go ]; do sleep 0.05; done
echo end >> noted
echo '{}'
`
const start = async (t: Parameters<typeof createService>[0], workers = 2): Promise<Service> => await createService(t, {
  files: { 'tools/bin/noted': noted, 'tools/bin/quick': '#!/bin/sh\ncat > /dev/null; echo {}' },
  tools: [
    { name: 'noted', schema: { type: 'object' }, command: ['./tools/bin/noted'], idempotent: true, permissions: ['read_repo', 'write_files'] },
    { name: 'quick', schema: { type: 'object' }, command: ['./tools/bin/quick'] }
  ],
  workers,
  env: {
    TENANT_LIMITS_JSON: '{"acme": {"max_running": 2}}',
    API_KEYS_JSON
  }
})
const linesOf = ({ dir }: Service): string[] => {
  const path = join(dir, 'workspace', 'noted')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}
const go = ({ dir }: Service): void => { writeFileSync(join(dir, 'workspace', 'go'), '') }

t.test('over all workers no more calls of a tenant run at once than max_running says, and the others run after them', async t => {
  const service = await start(t)
  const jobs = await Promise.all(Array.from({ length: 8 }, () => submit(service.client, { type: 'agentcli.noted' }, { key: keys.acme })))
  await waitFor('two run', () => linesOf(service).length === 2)
  const quick = await submit(service.client, { type: 'agentcli.quick' }, { key: keys.other })
  await reach(service.client, quick.id, 'succeeded')
  t.same(linesOf(service), ['begin', 'begin'], 'another tenant is served, and no third call has begun')
  go(service)
  for (const { id } of jobs) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded', attempts: 1 })
  let [running, most] = [0, 0]
  for (const line of linesOf(service)) {
    running += line === 'begin' ? 1 : -1
    most = Math.max(most, running)
  }
  t.same([running, most], [0, 2])
})

t.test('the places of a killed worker are free again', async t => {
  const service = await start(t)
  const jobs = await Promise.all(Array.from({ length: 2 }, () => submit(service.client, { type: 'agentcli.noted' }, { key: keys.acme })))
  await waitFor('two run', () => linesOf(service).length === 2)
  await Promise.all(service.workers.map(async worker => await worker.stop('SIGKILL')))
  go(service)
  await service.startWorker()
  for (const { id } of jobs) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded' })
})

t.test('a call that waits for a place gets it though its worker\'s connection breaks when the place becomes free', async t => {
  const service = await start(t, 0)
  const proxy = await startRedisProxy(t, { path: service.redis.socket })
  await service.startWorker({ REDIS_URL: proxy.url })
  const jobs = await Promise.all(Array.from({ length: 3 }, () => submit(service.client, { type: 'agentcli.noted' }, { key: keys.acme })))
  const redis = plainRedis(t, service.redis)
  await waitFor('two run, and one waits', async () => linesOf(service).length === 2 && await redis.zcard('toolyard:line:{toolyard:running:acme}') === 1)
  const broken = proxy.breakAt('after', (name, [, , set, , , , leaves = '']) => name === 'eval' && set === 'toolyard:running:acme' && leaves !== '')
  go(service)
  await broken
  proxy.mend()
  for (const { id } of jobs) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded' })
  await waitFor('none waits', async () => await redis.exists('toolyard:line:{toolyard:running:acme}') === 0)
})

t.test('running calls keep their places while Redis is full', async t => {
  const service = await start(t)
  const redis = plainRedis(t, service.redis)
  const jobs = await Promise.all(Array.from({ length: 3 }, () => submit(service.client, { type: 'agentcli.noted' }, { key: keys.acme })))
  await waitFor('two run', () => linesOf(service).length === 2)
  await redis.config('SET', 'maxmemory', '1mb')
  const untilOf = async (): Promise<number> => Number((await redis.zrange('toolyard:running:acme', '0', '0', 'WITHSCORES'))[1])
  const before = await untilOf()
  await waitFor('the places are renewed', async () => await untilOf() > before)
  t.same(linesOf(service), ['begin', 'begin'])
  await redis.config('SET', 'maxmemory', '0')
  go(service)
  for (const { id } of jobs) t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded' })
})
