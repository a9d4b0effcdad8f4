import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { protocol } from '@toolyard/contract'
import t from 'tap'
import { reach, submit } from '../jobs/submission.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { plainRedis } from '../support/connection.ts'
import { layOutRelease } from '../support/other-release.ts'
import { startApp, type AppProcess } from '../support/processes.ts'
import { createService, testKeys, type Service } from '../support/service.ts'
import { runsOf, stampEntries, stampFiles } from './stamp.ts'

t.setTimeout(300_000)

const dir = mkdtempSync(join(tmpdir(), 'toolyard-release-'))
t.teardown(() => { rmSync(dir, { recursive: true, force: true }) })
const older = layOutRelease(join(dir, 'older'), protocol - 1)
const newer = layOutRelease(join(dir, 'newer'), protocol + 1)

async function startRelease (t: Cleanup, service: Service, name: 'api' | 'worker', release: { api: string, worker: string }): Promise<AppProcess> {
  const app = await startApp(name, service.dir, service.env, release[name])
  t.teardown(async () => { await app.stop() })
  return app
}

t.test('a worker of an older release doesn\'t take jobs of this one, under load: all run elsewhere, none runs twice', async t => {
  const service = await createService(t, { files: stampFiles, tools: stampEntries, workers: 1 })
  for (let worker = 0; worker < 2; worker++) await startRelease(t, service, 'worker', older)
  const answers = await Promise.all(Array.from({ length: 15 }, async (_, batch) => await service.client.batch(
    Array.from({ length: 8 }, (_, call) => ({ call_id: `${call}`, name: call % 2 === 0 ? 'once' : 'again', arguments: { mark: `${batch}-${call}` } })), { wait_ms: 60_000 }
  )))
  t.same([...new Set(answers.flatMap(({ results }) => results.map(result => result.ok && result.pending !== true)))], [true])
  const runs = runsOf(service)
  t.equal(runs.size, 120)
  t.same([...runs.entries()].filter(([, count]) => count !== 1), [])
})

t.test('this release leaves the jobs of a newer one to newer workers, and serves those of an older one', async t => {
  const service = await createService(t, { files: stampFiles, tools: stampEntries, workers: 2 })
  const redis = plainRedis(t, service.redis)
  const old = createClient((await startRelease(t, service, 'api', older)).address, testKeys.admin)
  t.equal((await old.call('once', { mark: 'old' })).ok, true)
  const next = createClient((await startRelease(t, service, 'api', newer)).address, testKeys.admin)
  const jobs = await Promise.all(['a', 'b', 'c', 'd'].map(mark => submit(next, { type: 'agentcli.once', input: { mark } })))
  await waitFor('one was taken and put off', async () => {
    const times = await Promise.all(jobs.map(({ id }) => redis.hget(`toolyard:{default}:${id}`, 'givenBack')))
    return times.some(count => Number(count) > 0)
  })
  t.equal((await service.client.call('once', { mark: 'own' })).ok, true, 'they hold up no job of this release')
  t.same([...runsOf(service).keys()].sort(), ['old', 'own'])
  await startRelease(t, service, 'worker', newer)
  for (const { id } of jobs) t.match(await reach(next, id, 'succeeded', 'failed'), { status: 'succeeded', attempts: 1 })
  t.same([...runsOf(service).values()], [1, 1, 1, 1, 1, 1])
})
