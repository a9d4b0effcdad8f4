import { FinishedJobs, JobCanceller, JobQueues, QueueDirectory } from '@toolyard/queue'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { list, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { createService } from '../support/service.ts'

/** Notes its run, and fails until the file that it names is there. */
const needs = `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', () => {
  const { file, mark } = JSON.parse(text)
  const fs = require('node:fs')
  fs.appendFileSync('runs', mark + '\\n')
  if (file === undefined || fs.existsSync(file)) return process.stdout.write(JSON.stringify({ mark }))
  process.stderr.write('no ' + file)
  process.exitCode = 1
})
`
const workflows = `
workflows:
  two:
    steps:
      - {name: first, tool: needs, arguments: {mark: first}}
      - {name: second, tool: needs, arguments: {mark: second, file: there, after: "\${first.mark}"}}
  off:
    steps:
      - {name: long, tool: rest}
`
const service = await createService(t, {
  files: { 'tools/bin/needs': needs, 'tools/bin/rest': '#!/bin/sh\nsleep 60\n', 'workspace/workflows.yaml': workflows },
  tools: [{ name: 'needs', schema: { type: 'object' }, command: ['./tools/bin/needs'] }, { name: 'rest', schema: { type: 'object' }, command: ['./tools/bin/rest'], timeoutSec: 100 }]
})
const { client } = service
const redis = await connectTo(t, service.redis)
const retention = { ageSec: 3_600, count: 1_000 }
const queues = new JobQueues(redis, new QueueDirectory(redis, 64), retention)
t.teardown(() => queues.close())
const finished = new FinishedJobs({ redis, queues, canceller: new JobCanceller(redis, queues), retention })
const operator = { keyName: 'admin', mayRun: () => true }
const runs = (): string[] => readFileSync(join(service.dir, 'workspace/runs'), 'utf8').trim().split('\n')

t.test('a failed workflow that is run again runs its steps again, any number of times', async t => {
  const { id } = await submit(client, { type: 'workflow.run', input: { workflow: 'two' } })
  t.match(await reach(client, id, 'failed'), { error: { message: /^step 'second' failed: no there/ } })
  t.equal(await finished.rerun('default', id, operator), 'queued')
  await waitFor('the steps have run again', () => runs().length === 4)
  t.match(await reach(client, id, 'failed'), { error: { message: /^step 'second' failed: no there/ } })
  await writeFile(join(service.dir, 'workspace/there'), '')
  t.equal(await finished.rerun('default', id, operator), 'queued')
  t.match(await reach(client, id, 'succeeded'), { result: { output: { mark: 'second' }, created_count: 2 } })
  t.same(runs(), ['first', 'second', 'first', 'second', 'first', 'second'])
})

t.test('a workflow that fails for another reason than a step cancels its steps', async t => {
  const { id } = await submit(client, { type: 'workflow.run', queue: 'off', timeout_sec: 100, input: { workflow: 'off' } })
  const step = await waitFor('the step runs', async () => (await list(client, '?queue=off&tag=workflow-step&status=running')).jobs[0])
  await client.request('/v1/job-types/workflow.run', { method: 'PATCH', body: { enabled: false } })
  await queues.open('off').getJob(id).then(async job => { await redis.zadd('toolyard:{off}:alarms', 1, job?.id ?? '') })
  t.match(await reach(client, id, 'failed'), { error: { code: 'JOB_TYPE_DISABLED' } })
  await reach(client, step.id, 'cancelled')
})
