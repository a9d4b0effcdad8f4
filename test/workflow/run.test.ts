/* eslint-disable no-template-curly-in-string -- they are placeholders of workflows */
import type { JobResponse } from '@toolyard/contract'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { cancel, list, reach, read, submit, type Job } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { workflows } from './workflows.ts'

const service = await createService(t, {
  files: { ...programs, 'tools/bin/keep': '#!/bin/sh\nexec cat\n', 'workspace/workflows.yaml': workflows, 'workspace/other/more.yaml': workflows, 'workspace/broken.yaml': 'workflows: [', 'workspace/bomb.yaml': bomb() },
  tools: [...entries, { name: 'keep', schema: { type: 'object' }, command: ['./tools/bin/keep'] }],
  env: { WORKER_CONCURRENCY: '1' }
})
const { client } = service
const limited = createClient(service.api.address, testKeys.limited)

/** Ten aliases deep, ten each. */
function bomb (): string {
  return ['a: &a0 [x]', ...Array.from({ length: 10 }, (_, n) => `b${n}: &a${n + 1} [${Array.from({ length: 10 }, () => `*a${n}`).join(', ')}]`), 'workflows: {w: {steps: [{tool: echo}]}}'].join('\n')
}

async function stepsOf (id: string): Promise<Job[]> {
  const { jobs } = await list(client, '?tag=workflow-step&limit=200')
  const steps = jobs.filter(job => job.parent_id === id)
  const whole = await Promise.all(jobs.map(job => read(client, job.id)))
  const found = whole.filter(job => job.parent_id === id)
  if (found.length !== steps.length) throw new Error('the list names other steps than the jobs themselves')
  return found.reverse()
}

t.test('RC43, X33 a workflow runs its steps, in one place of one worker, and answers with their outputs', async t => {
  const result = await client.call('workflow_run', { workflow: 'greet', params: { who: 'Ada', times: 3 } })
  t.equal(result.ok, true, JSON.stringify(result))
  const output = result.output as Record<string, unknown>
  t.match(output, {
    ok: true,
    workflow: 'greet',
    workflow_name: 'Greeting',
    workflow_file: 'workflows.yaml',
    created_count: 3,
    output: { said: 'Hello Ada', times: 3 },
    output_text: '{"said":"Hello Ada","times":3}',
    stdout: '{"said":"Hello Ada","times":3}'
  })
  const [first, second, third] = output['created_jobs'] as Array<Record<string, unknown>>
  t.match(first, { step: 'make', type: 'agentcli.echo', tool: 'echo', queue: 'default', status: 'succeeded', output: { greeting: 'Hello Ada', list: [{ n: 3 }] } })
  t.match(second, { step: 'say', output: { said: 'Hello Ada', n: 3, all: { greeting: 'Hello Ada' }, text: 'n is 3, list is [{"n":3}]', plain: '${not}' } })
  t.match(third, { step: 'step3', output: { default: 'yes' } })
  for (const [index, step] of [first, second, third].entries()) t.match(await read(client, String(step?.['id'])), { status: 'succeeded', tool: ['echo', 'echo', 'echo'][index] })
})

t.test('RC43 workflows are found only in the workspace, and their faults are reported', async t => {
  const failure = async (args: object): Promise<string | undefined> => (await client.call('workflow_run', args)).error?.message
  t.equal(await failure({ workflow: 'x', workflow_file: 'none.yaml' }), 'workflow file not found: none.yaml')
  t.equal(await failure({ workflow: 'x', workflow_file: '../../etc/passwd' }), 'path escapes workspace root')
  t.match(await failure({ workflow: 'x' }), /^workflow not found: x \(the file has: greet, /)
  t.match(await failure({ workflow: 'x', workflow_file: 'broken.yaml' }), /^workflow file broken\.yaml, line 1: /)
  t.match(await failure({ workflow: 'w', workflow_file: 'bomb.yaml' }), /^workflow file bomb\.yaml: /)
  t.match(await failure({ workflow: 'greet' }), /^step 'make': arguments\.greeting: '\$\{who\}' names no parameter \(.*\) and no step \(make, say, step3\)$/)
  t.equal(await failure({ workflow: 'again' }), "step 'step1': a workflow does not run a workflow")
  t.equal(await failure({ workflow: 'circle' }), 'these steps wait for each other: a, b')
  t.equal(await failure({ workflow: 'stranger' }), "step 'step2': Tool 'nobody' not found in registry")
  t.equal(await failure({ workflow: 'by_type' }), "step 'step1': No tool has the job type 'agentcli.nothing'")
  t.equal(await failure({ workflow: 'switched_off' }), "step 'step1': Job type 'agentcli.off' is disabled")
  t.match(await failure({ workflow: 'many' }), 'workflows.many.steps must have at most 100 steps')
  t.match(await failure({ workflow: 'misspelt' }), /^workflows\.misspelt\.steps\[0\]\.argumets is no known field/)
  t.equal((await client.call('workflow_run', { workflow: 'greet', workflow_file: 'other/more.yaml', vars: { who: 'Bo' } })).ok, true)
})

t.test('RC43 a step that fails ends the workflow, whose error names the step; later steps do not run', async t => {
  const job = await submit(client, { type: 'workflow.run', input: { workflow: 'breaks' } })
  const failed = await reach(client, job.id, 'failed', 'succeeded')
  t.match(failed, { status: 'failed', error: { code: 'TOOL_FAILED', message: "step 'broken' failed: it broke", details: { step: 'broken', error: { code: 'TOOL_FAILED', message: 'it broke' } } } })
  const steps = await stepsOf(job.id)
  t.same(steps.map(step => step.tool), ['fail'], 'the step after it was never made')
  const badArguments = await client.call('workflow_run', { workflow: 'bad_arguments' })
  t.match(badArguments.error, { code: 'INVALID_ARGUMENTS', message: /^step 'strict': Arguments do not fit the schema: .*word/ })
  const noField = await client.call('workflow_run', { workflow: 'no_field' })
  t.equal(noField.error?.message, "step 'second': arguments.x: '${first.nothing}': the output of step 'first' has no 'nothing' there (known: a)")
})

t.test('a null for an optional argument of a step means no value, and is not listed among faults', async t => {
  const idle = await client.call('workflow_run', { workflow: 'idle_nulls' })
  t.match(idle, { ok: true, output: { output: { word: 'hello', times: 1 } } }, JSON.stringify(idle.error))
  const fault = await client.call('workflow_run', { workflow: 'idle_nulls_and_fault' })
  t.match(fault.error, { code: 'INVALID_ARGUMENTS', message: "step 'strict': Arguments do not fit the schema: /word must be string" })
  t.strictSame((fault.error?.details as { error: { details: unknown } }).error.details, { issues: [{ path: '/word', message: 'must be string' }] })
})

t.test('RC43 cancelling a workflow cancels its running and waiting steps', async t => {
  const job = await submit(client, { type: 'workflow.run', input: { workflow: 'naps' } })
  await waitFor('one step runs and one waits', async () => {
    const states = (await stepsOf(job.id)).map(step => step.status).sort()
    return states.join() === 'queued,running'
  })
  t.match(await read(client, job.id), { status: 'running', attempts: 0 })
  t.equal((await cancel(client, job.id)).status, 200)
  t.match(await read(client, job.id), { status: 'cancelled' })
  await waitFor('the steps are cancelled', async () => (await stepsOf(job.id)).every(step => step.status === 'cancelled'))
})

t.test('RC43 the timeout of a workflow covers all of its steps', async t => {
  const job = await submit(client, { type: 'workflow.run', timeout_sec: 1, input: { workflow: 'naps' } })
  const failed = await reach(client, job.id, 'failed', 'succeeded')
  t.match(failed, { status: 'failed', error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: 1 } } }, JSON.stringify(failed.error))
  await waitFor('the steps have ended', async () => (await stepsOf(job.id)).every(step => ['cancelled', 'failed'].includes(step.status)))
})

t.test('B31 a workflow and its steps may use only queues that the key may use', async t => {
  const outer = await limited.call('workflow_run', { workflow: 'greet', params: { who: 'x' }, queue: 'default' }, { queue: 'allowed' })
  t.match(outer.error, { code: 'FORBIDDEN', message: "Queue 'default' is not allowed for this API key.", details: { allowed_queues: ['allowed'] } })
  const posted = await client.request('/v1/jobs', { key: testKeys.limited, body: { type: 'workflow.run', queue: 'allowed', input: { workflow: 'greet', queue: 'default' } } })
  t.equal(posted.status, 403)
  const inner = await limited.call('workflow_run', { workflow: 'elsewhere' }, { queue: 'allowed' })
  t.match(inner.error, { code: 'FORBIDDEN', message: "step 'step2': Queue 'else' is not allowed for this API key." })
  const allowed = await limited.call('workflow_run', { workflow: 'greet', params: { who: 'x' } }, { queue: 'allowed' })
  t.match(allowed.output, { created_jobs: [{ queue: 'allowed' }, { queue: 'allowed' }, { queue: 'allowed' }] })
  const admin = await client.call('workflow_run', { workflow: 'elsewhere', queue: 'third' })
  t.match(admin.output, { created_jobs: [{ queue: 'third' }, { queue: 'else' }] })
})

t.test('RC43 a long output passes completely from step to step, and stays readable', async t => {
  const result = await client.call('workflow_run', { workflow: 'long' })
  t.match(result.output, { truncated: true })
  const { jobs: [job] } = await list(client, '?type=workflow.run&limit=1')
  const whole = (await client.request<JobResponse>(`/v1/jobs/${String(job?.id)}`)).body.job.result as { output_text: string }
  t.equal(whole.output_text, '20000')
  t.match(await readFile(join(service.dir, 'workspace/long.txt'), 'utf8'), /^y{20000}$/)
})

t.test('a step does not run with the beginning of an output that was not kept as a whole', async t => {
  const result = await client.call('workflow_run', { workflow: 'cut' })
  t.match(result.error, {
    code: 'TOOL_FAILED',
    message: "step 'write': arguments: the output of step 'big' has 1200002 bytes, and only the first 1048575 were kept: MAX_OUTPUT_BYTES and its tool's limits.outputBytes bound them"
  }, JSON.stringify(result).slice(0, 500))
  await t.rejects(readFile(join(service.dir, 'workspace/cut.txt')), { code: 'ENOENT' })
  t.match((await client.call('workflow_run', { workflow: 'cut_at_the_end' })).output, { truncated: true }, 'the answer says by itself that it is cut')
})

t.test('whole numbers of a workflow file keep their digits, wherever they stand', async t => {
  const { text } = await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: '1', name: 'workflow_run', arguments: { workflow: 'digits' } }] } })
  const made = '{"id":725653563933458433,"of_param":12345678901234567890,"in":[{"id":-12345678901234567891,"hex":18446744073709551615}]}'
  t.ok(text.includes(`"output":${made}`), text)
  t.ok(text.includes(`"output":{"all":${made},"text":-12345678901234567891,"list":[9007199254740993],"own":[1,12345678901234567893]}`), text)
  t.ok(text.includes('"output":{"id":12345678901234567894,"copy":725653563933458433}'), text)
  const bare = await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: '1', name: 'workflow_run', arguments: { workflow: 'bare_digits' } }] } })
  t.match(bare.text, '"output":12345678901234567890,')
  t.equal((await client.call('workflow_run', { workflow: 'no_map' })).error?.message, 'workflows.no_map.steps[0].arguments must be a map')
})
