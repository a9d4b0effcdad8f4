import { orElse } from '@toolyard/contract/terms'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, type Service } from '../support/service.ts'
import { reach, submit } from '../jobs/submission.ts'

/** Notes each of its runs; the first one takes long. */
const noted = `#!/bin/sh
name=$(cat)
echo run >> "runs-$TOOL_NAME"
[ "$(wc -l < "runs-$TOOL_NAME")" -gt 1 ] || sleep 60
echo '{"done": true}'
`
const tool = (name: string, rest: object = {}): object => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], ...rest })
const names = ['again', 'never', 'switched', 'held']
const start = async (t: Parameters<typeof createService>[0]): Promise<Service> => await createService(t, {
  files: Object.fromEntries(names.map(name => [`tools/bin/${name}`, noted.replaceAll('$TOOL_NAME', name)])),
  tools: [tool('again', { idempotent: true }), tool('never'), tool('switched'), tool('held', { idempotent: true, approval: { self: true } })]
})
const runsOf = (service: Service, name: string): number => {
  return orElse(() => readFileSync(join(service.dir, 'workspace', `runs-${name}`), 'utf8').trim().split('\n').length, 0)
}

t.test('fault 20, fault 21 the job of a killed worker runs again once when its tool is idempotent, and never otherwise, whatever its attempts', async t => {
  const service = await start(t)
  const again = await submit(service.client, { type: 'agentcli.again' })
  const never = await submit(service.client, { type: 'agentcli.never', max_attempts: 5 })
  await waitFor('both run', () => runsOf(service, 'again') === 1 && runsOf(service, 'never') === 1)
  await service.startWorker()
  await service.workers[0]?.stop('SIGKILL')
  t.match(await reach(service.client, again.id, 'succeeded', 'failed'), { status: 'succeeded', result: { done: true }, attempts: 2 })
  t.match(await reach(service.client, never.id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'WORKER_LOST' }, attempts: 1 })
  t.equal(runsOf(service, 'again'), 2)
  t.equal(runsOf(service, 'never'), 1)
})

t.test('fault 20 a tool whose job type was switched to idempotent is run again', async t => {
  const service = await start(t)
  const patch = async (idempotent: boolean): Promise<object> => (await service.client.request<{ type: object }>('/v1/job-types/agentcli.switched', { method: 'PATCH', body: { idempotent } })).body.type
  t.match(await patch(true), { name: 'agentcli.switched', idempotent: true })
  const { id } = await submit(service.client, { type: 'agentcli.switched' })
  await waitFor('it runs', () => runsOf(service, 'switched') === 1)
  await service.startWorker()
  await service.workers[0]?.stop('SIGKILL')
  t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'succeeded', attempts: 2 })
  t.match(await patch(false), { idempotent: false })
})

t.test('promise 12 an approved call whose worker is killed does not run again, also where its tool is idempotent', async t => {
  const service = await start(t)
  const { id } = await submit(service.client, { type: 'agentcli.held' })
  t.match(await service.client.decide(await service.client.held(id), 'approve'), { status: 200 })
  await waitFor('it runs', () => runsOf(service, 'held') === 1)
  await service.startWorker()
  await service.workers[0]?.stop('SIGKILL')
  t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'WORKER_LOST', message: /its approval was for one run/ }, attempts: 1 })
  t.equal(runsOf(service, 'held'), 1)
})

t.test('promise 2 a call whose worker is killed and whose tool is gone from the manifests is WORKER_LOST: it may have run', async t => {
  const service = await start(t)
  const { id } = await submit(service.client, { type: 'agentcli.never' })
  await waitFor('it runs', () => runsOf(service, 'never') === 1)
  writeFileSync(join(service.dir, 'tools.json'), JSON.stringify({ tools: [tool('again')] }))
  await service.startWorker()
  await service.workers[0]?.stop('SIGKILL')
  t.match(await reach(service.client, id, 'succeeded', 'failed'), { status: 'failed', error: { code: 'WORKER_LOST', message: /its tool is gone/ }, attempts: 1 })
})
