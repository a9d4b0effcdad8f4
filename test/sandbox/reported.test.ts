import type { Ready } from '@toolyard/contract'
import t from 'tap'
import { reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
const full = { level: 'full', missing: [] }
const service = await createService(t, {
  tools: [{ name: 'good', command: ['./tools/bin/good'] }, { name: 'bad', command: ['./tools/bin/bad'] }],
  files: { 'tools/bin/good': '#!/bin/sh\necho done\n', 'tools/bin/bad': '#!/bin/sh\nexit 3\n' },
  env: { METRICS_PORT: '0', DATA_FETCH_ENABLED: '1', DATA_FETCH_ALLOWLIST: '*' }
})
const { client } = service

async function sandboxOf (type: string, input: Record<string, unknown> = {}): Promise<unknown> {
  const { id } = await submit(client, { type, input })
  return (await reach(client, id, 'succeeded', 'failed')).sandbox
}

async function workersOfReady (): Promise<NonNullable<Ready['workers']>> {
  const { workers } = (await client.request<Ready>('/ready')).body
  if (workers === undefined) throw new Error('no workers in /ready')
  return workers
}

void t.test('fault 18 each job reports the sandbox level of its processes, whether it succeeded or not', { skip }, async t => {
  t.strictSame(await sandboxOf('agentcli.good'), full)
  t.strictSame(await sandboxOf('agentcli.bad'), full)
  t.equal(await sandboxOf('data.file_read', { path: 'README.md' }), null, 'a tool that runs no process')
  t.strictSame(Object.keys((await client.call('bad') as { error: object }).error), ['code', 'message'], 'the answer of a call has nothing of it')
})

void t.test('fault 18 /ready reports the sandbox level of each living worker', { skip }, async t => {
  t.match(await workersOfReady(), { count: 1, list: [{ sandbox: full }] })
  const open = await service.startWorker({ SANDBOX: 'off' })
  const { count, list } = await workersOfReady()
  t.equal(count, 2)
  t.strictSame(list.map(({ sandbox }) => sandbox.level).sort(), ['full', 'none'])
  await open.stop('SIGKILL')
  await t.resolves(waitFor('a worker that died is gone', async () => (await workersOfReady()).count === 1, 60_000))
})

void t.test('a worker that has proved its sandbox knows the errors of code that it has loaded since', { skip }, async t => {
  t.match(await client.call('data_fetch', { url: 'https://127.0.0.1/' }), { ok: false, error: { code: 'NOT_ALLOWED' } })
})
