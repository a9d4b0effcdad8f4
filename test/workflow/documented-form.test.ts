import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { read } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'

const workflows = `
workflows:
  find:
    name: Find
    params:
      - name: query
        type: string
        required: true
        description: What to look for
      - name: most
        type: integer
        required: false
        default: 5
      - {name: note}
    steps:
      - id: find
        type: tools.file_search
        priority: 7
        timeout_sec: 9
        max_attempts: 2
        tags: [looks]
        input: {query: "\${query}", path: ".", max_results: "\${most}"}
      - id: say
        type: agentcli.echo
        depends_on: [find]
        input: {path: "\${find.results[0].path}", note: "<\${note}>"}
  empty: {params: [], steps: [{tool: echo, arguments: {given: "\${given}"}}]}
  text: {params: query, steps: [{tool: echo}]}
  nameless: {params: [{type: string}], steps: [{tool: echo}]}
  misspelt: {params: [{name: query, requierd: true}], steps: [{tool: echo}]}
  unsure: {params: [{name: query, required: maybe}], steps: [{tool: echo}]}
  twice: {params: [{name: a}, {name: a}], steps: [{tool: echo}]}
  odd: {params: [{name: a.b}], steps: [{tool: echo}]}
  foreign: {params: [{name: a, type: path, default: 5}], steps: [{tool: echo, arguments: {a: "\${a}"}}]}
  hurried: {steps: [{tool: echo, timeout_sec: 0}]}
  tagged: {steps: [{tool: echo, tags: [5]}]}
`

const service = await createService(t, { files: { ...programs, 'workspace/workflows/workflows.yaml': workflows, 'workspace/workflows/more.yaml': workflows, 'workspace/needle.md': 'x' }, tools: entries })
const { client } = service
const run = async (workflow: string, params: object = {}, more: object = {}) => await client.call('workflow_run', { workflow, params, ...more })
const failure = async (...call: Parameters<typeof run>): Promise<string | undefined> => (await run(...call)).error?.message

t.test('RC43 parameters are a list of name, type, required and default; jobs are told by step_id and job_id', async t => {
  const { output } = await run('find', { query: 'needle' })
  t.match(output, { ok: true, workflow_file: 'workflows/workflows.yaml', created_count: 2, output: { path: 'needle.md', note: '<>' } })
  const { created_jobs: jobs } = output as { created_jobs: Array<Record<string, unknown>> }
  t.match(jobs, [
    { step_id: 'find', job_id: /./, type: 'tools.file_search', depends_on: [] },
    { step_id: 'say', job_id: /./, type: 'agentcli.echo', depends_on: ['find'] }
  ])
  for (const job of jobs) t.match(job, { step: job['step_id'], id: job['job_id'] }, 'by our names, too')
  t.match(await read(client, String(jobs[0]?.['job_id'])), { status: 'succeeded', priority: 7, timeout_sec: 9, max_attempts: 2, tags: ['agent-tool', 'looks', 'workflow-step'] })
})

t.test('RC43 a workflow file is looked for in the workspace, then in its directory workflows/', async t => {
  t.match((await run('foreign', {}, { workflow_file: 'more.yaml' })).output, { workflow_file: 'workflows/more.yaml' })
  t.match((await run('foreign', {}, { workflow_file: 'workflows/more.yaml' })).output, { workflow_file: 'workflows/more.yaml' })
  t.equal(await failure('foreign', {}, { workflow_file: 'none.yaml' }), 'workflow file not found: none.yaml')
  t.equal(await failure('foreign', {}, { workflow_file: '../more.yaml' }), 'path escapes workspace root')
  await writeFile(join(service.dir, 'workspace/more.yaml'), 'workflows: {foreign: {steps: [{tool: echo}]}}')
  t.match((await run('foreign', {}, { workflow_file: 'more.yaml' })).output, { workflow_file: 'more.yaml' }, 'the one at the top counts')
})

t.test('RC43 values of parameters are those of the call, then the defaults, and have their types', async t => {
  for (const missing of [{}, { query: null }, { query: '' }]) t.equal(await failure('find', missing), "workflow param 'query' is required")
  t.equal(await failure('find', { query: 5 }), "workflow param 'query' must be of the type string")
  t.equal(await failure('find', { query: 'x', most: 1.5 }), "workflow param 'most' must be of the type integer")
  t.match((await run('foreign')).output, { output: { a: 5 } }, 'a type that is none of JSON Schema says nothing')
  t.match((await run('empty', { given: [1] })).output, { output: { given: [1] } }, 'what is not declared is passed on')
})

t.test('RC43 faults of a parameter or a step are reported with their place', async t => {
  t.match(await failure('text'), 'workflows.text.params must be a list of parameters, or a map of names to defaults')
  t.match(await failure('nameless'), /^workflows\.nameless\.params\[0\]\.name must begin with a letter/)
  t.match(await failure('misspelt'), /^workflows\.misspelt\.params\[0\]\.requierd is no known field \(known: name, type, required, default, description\)/)
  t.equal(await failure('unsure'), 'workflows.unsure.params[0].required must be true or false')
  t.equal(await failure('twice'), "workflows.twice.params: two parameters are named 'a'")
  t.match(await failure('odd'), /^workflows\.odd\.params\[0\]\.name must begin with a letter/)
  t.equal(await failure('hurried'), 'workflows.hurried.steps[0].timeout_sec must be a whole number from 1 to 3600')
  t.equal(await failure('tagged'), 'workflows.tagged.steps[0].tags must be a list of texts')
})
