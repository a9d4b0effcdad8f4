import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { read, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { freePort } from '../support/redis-process.ts'
import { createService } from '../support/service.ts'
import { toolyardProgram as program } from '../cli/toolyard.ts'

t.setTimeout(300_000)

void t.test('toolyard worker runs several processes on its queues, restarts one that dies, reports all of them, and drains', async t => {
  const service = await createService(t, { files: programs, tools: entries, workers: 0 })
  const port = await freePort()
  const child = fork(program, ['worker', '--processes', '2', '--queues', 'mine', '--concurrency', '3'], {
    cwd: service.dir, env: { ...service.env, METRICS_PORT: String(port) }, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  t.teardown(() => { child.kill('SIGKILL') })
  await once(child, 'message')
  const status = async (path: string): Promise<{ status: number, text: string }> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, text: await response.text() }
  }
  const processes = (): number[] => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ').filter(pid => pid !== '').map(Number)
  t.match(JSON.parse((await status('/ready')).text), { ok: true, checks: { 'worker-1': { ok: true }, 'worker-2': { ok: true } } })
  t.equal((await status('/health')).status, 200)
  t.match((await status('/metrics')).text, /^toolyard_registry_tools \d+$/m)

  t.equal((await service.client.call('echo', {}, { queue: 'mine' })).ok, true)
  const elsewhere = await submit(service.client, { type: 'agentcli.echo', queue: 'other' })

  const before = processes()
  t.equal(before.length, 2)
  process.kill(before[0] ?? 0, 'SIGKILL')
  await waitFor('it is not ready', async () => (await status('/ready')).status === 503)
  await waitFor('it is ready again', async () => (await status('/ready')).status === 200, 90_000)
  t.equal(processes().filter(pid => !before.includes(pid)).length, 1)

  const napping = service.client.call('nap', { ms: 2_000 }, { queue: 'mine' })
  const napped = napping.then(({ ok }) => ok)
  await waitFor('it runs', async () => (await service.client.request<{ count: number }>('/v1/jobs?queue=mine&status=running')).body.count === 1)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  t.equal(await napped, true)
  t.same(await ended, [0, null])
  t.equal((await read(service.client, elsewhere.id)).status, 'queued', 'other queues are not theirs')
})
