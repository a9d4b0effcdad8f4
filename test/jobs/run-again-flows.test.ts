import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { list, reach, submit, type Job } from './submission.ts'

const service = await createService(t, {
  files: {
    // Fails until somebody has mended it.
    'tools/bin/breaks': '#!/bin/sh\n[ -e mended ] && echo \'"done"\' || exit 3\n',
    // Fails at once the first time, and then takes a while.
    'tools/bin/waits': '#!/bin/sh\n[ -e waited ] && sleep 1 || { touch waited; exit 3; }\n',
    'tools/bin/prints': '#!/bin/sh\ncat\n',
    // Asks, and fails with the answer.
    'tools/bin/asks': '#!/bin/sh\n[ -z "$TOOLYARD_ANSWER" ] && echo \'{"$ask":{"text":"Which?","schema":{"type":"object"}}}\' && exit\ncat "$TOOLYARD_ANSWER" >&2\nexit 3\n',
    'workspace/workflows.yaml': `workflows:
  repair:
    steps:
      - {name: find, tool: prints, arguments: {part: 7}, tags: [flow]}
      - {name: mend, tool: breaks, arguments: {}, depends_on: [find], tags: [flow]}
`
  },
  tools: [
    { name: 'breaks', schema: { type: 'object' }, command: ['./tools/bin/breaks'], permissions: ['write_files'] },
    { name: 'waits', schema: { type: 'object' }, command: ['./tools/bin/waits'], permissions: ['write_files'] },
    { name: 'prints', schema: { type: 'object' }, command: ['./tools/bin/prints'] },
    { name: 'asks', command: ['./tools/bin/asks'], asks: true }
  ]
})
const { client, dir } = service

/** Runs the failed jobs with a tag again, and says how many were. */
async function runAgain (tag: string): Promise<number> {
  const { body: { bulk: { id } } } = await client.request<{ bulk: { id: string } }>('/v1/bulk', { body: { action: 'run_again', filter: { tag } } })
  return await waitFor('the change is done', async () => {
    const { body: { bulk } } = await client.request<{ bulk: { state: string, changed: number } }>(`/v1/bulk/${id}`)
    return bulk.state === 'done' ? bulk : undefined
  }).then(({ changed }) => changed)
}
const tagged = async (tag: string): Promise<Job[]> => (await list(client, `?tag=${tag}&limit=200`)).jobs as Job[]
const mend = async (): Promise<void> => { await writeFile(join(dir, 'workspace/mended'), '') }

t.test('a failed step is run again by its workflow alone: by itself it would run a second time, for nobody', async t => {
  const { id } = await submit(client, { type: 'workflow.run', input: { workflow: 'repair' }, tags: ['flow'] })
  await reach(client, id, 'failed')
  const steps = await waitFor('the steps have ended', async () => {
    const jobs = (await tagged('flow')).filter(job => job.id !== id)
    return jobs.length === 2 && jobs.every(({ status }) => status === 'succeeded' || status === 'failed') ? jobs : undefined
  })
  const failed = steps.find(({ status }) => status === 'failed')
  await mend()
  t.equal(await runAgain('flow'), 1)
  await reach(client, id, 'succeeded')
  t.match(await reach(client, failed?.id ?? '', 'failed', 'succeeded', 'cancelled'), { status: 'failed', error: { code: 'TOOL_FAILED' } })
  t.equal((await tagged('flow')).length, 5)
})

t.test('jobs that depend on others run again behind them, however many there are, and as soon as these have succeeded', async t => {
  await rm(join(dir, 'workspace/mended'))
  const input = { who: 'first' }
  const { id } = await submit(client, { type: 'agentcli.breaks', input, tags: ['chain'] })
  const waiting: string[] = []
  // More than one page of a change has, and more than are run again at once.
  for (let place = 0; place < 105; place++) waiting.push((await submit(client, { type: 'agentcli.prints', input, depends_on: [id], tags: ['chain'] })).id)
  const last = await submit(client, { type: 'agentcli.prints', input, depends_on: waiting.slice(-1), tags: ['chain'] })
  await waitFor('all have failed', async () => (await tagged('chain')).every(({ status }) => status === 'failed'))
  t.match((await reach(client, last.id, 'failed')).error, { code: 'DEPENDENCY_BLOCKED' })
  await mend()
  t.equal(await runAgain('chain'), 107)
  const jobs = await waitFor('all have ended', async () => {
    const found = await tagged('chain')
    return found.every(({ status }) => status === 'succeeded' || status === 'failed') ? found : undefined
  })
  t.same([...new Set(jobs.map(({ status }) => status))], ['succeeded'])
})

t.test('a job that is run again with what it depends on begins once that has succeeded, and not ten seconds later', async t => {
  const { id } = await submit(client, { type: 'agentcli.waits', input: {}, tags: ['pair'] })
  const { id: second } = await submit(client, { type: 'agentcli.prints', input: {}, depends_on: [id], tags: ['pair'] })
  await reach(client, second, 'failed')
  await runAgain('pair')
  const ended = Date.parse((await reach(client, id, 'succeeded')).finished_at ?? '')
  const begun = Date.parse((await reach(client, second, 'succeeded')).started_at ?? '')
  t.ok(begun - ended < 5_000, `it began ${begun - ended} ms later`)
})

t.test('a tool that was answered and failed asks again when its job is run again', async t => {
  const { id } = await submit(client, { type: 'agentcli.asks', input: {}, tags: ['asks'] })
  for (const seat of ['aisle', 'window']) {
    t.match(await reach(client, id, 'input_required', 'failed'), { status: 'input_required', question: { number: 1 } })
    t.equal((await client.request(`/v1/jobs/${id}/answer`, { body: { answer: { seat }, number: 1 } })).status, 200)
    t.match(await reach(client, id, 'failed'), { error: { message: `{"seat":"${seat}"}` } })
    if (seat === 'aisle') t.equal(await runAgain('asks'), 1)
  }
})
