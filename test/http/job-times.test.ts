import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { injectService } from '../support/injected.ts'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, reach, read, submit, type Job } from '../jobs/submission.ts'

const service = await injectService(t, { files: programs, tools: entries })
const { client } = service
const echo = 'agentcli.echo'
const ms = (time: string | null): number => Date.parse(time ?? '')

/** The parts of a job's way are its whole way; a clock that was corrected meanwhile leaves nothing below 0. */
function addsUp (job: Job, delayMs = 0): boolean {
  return job.waited_ms === 0 || ms(job.finished_at) - ms(job.created_at) === delayMs + (job.waited_ms ?? NaN) + (job.ran_ms ?? NaN)
}

t.test('a job says when it began and ended, how long it waited and ran, and by whom', async t => {
  const { id } = await submit(client, { type: echo })
  const job = await reach(client, id, 'succeeded')
  t.match(job, { key: 'admin', started_at: /Z$/, finished_at: job.updated_at, worker: /^[0-9a-f-]{36}$/ })
  t.ok(addsUp(job), JSON.stringify(job))
  const delayed = await submit(client, { type: echo, delay_ms: 700 })
  t.ok(addsUp(await reach(client, delayed.id, 'succeeded'), 700), 'the delay is no waiting')
})

t.test('pauses between runs aren\'t shown; a job that never ran has no times of a run', async t => {
  const failed = await reach(client, (await submit(client, { type: 'agentcli.fail', max_attempts: 2 })).id, 'failed')
  t.match(failed, { attempts: 2, waited_ms: null, ran_ms: Number, started_at: /Z$/ })
  const { id } = await submit(client, { type: echo, delay_ms: 60_000 })
  t.match(await read(client, id), { started_at: null, finished_at: null, waited_ms: null, ran_ms: null, worker: null, key: 'admin' })
  await cancel(client, id)
  const never = { status: 'cancelled', attempts: 0, started_at: null, finished_at: /Z$/, waited_ms: null, ran_ms: null, worker: null }
  t.match(await read(client, id), never)
})

t.test('a workflow began when it was first taken, before its steps', async t => {
  const text = 'workflows: {one: {steps: [{name: a, tool: echo, arguments: {}}, {name: b, tool: echo, arguments: {}, depends_on: [a]}]}}\n'
  writeFileSync(join(service.env['WORKSPACE_DIR'] ?? '', 'workflows.yaml'), text)
  const { id } = await submit(client, { type: 'workflow.run', input: { workflow: 'one' } })
  const job = await reach(client, id, 'succeeded')
  const steps = (await list(client)).jobs.filter(step => step.parent_id === id)
  t.equal(steps.length, 2)
  for (const step of steps) t.ok(ms(job.started_at) <= ms(step.started_at) && ms(step.finished_at) <= ms(job.finished_at))
  t.ok(addsUp(job), JSON.stringify(job))
})

t.test('a list says the same of each job as the job itself', async t => {
  for (const listed of (await list(client)).jobs) t.match(await read(client, listed.id), listed)
})
