import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { reach, submit, list } from '../jobs/submission.ts'
import { createService, makeKeys } from '../support/service.ts'
import { openVisit } from './visitor.ts'

const hostile = join(import.meta.dirname, '../../../samples/hostile')
const { keys, API_KEYS_JSON } = makeKeys({ narrow: { queue_allowlist: ['default'] } })
const service = await createService(t, {
  files: { 'workspace/workflows.yaml': readFileSync(join(hostile, 'workflows.yaml'), 'utf8') },
  env: {
    TOOL_MANIFESTS: join(hostile, 'tools.json'),
    REDACT: 'hunter\\d+',
    API_KEYS_JSON
  }
})
const { client } = service
const { id } = await submit(client, { type: 'workflow.run', input: { workflow: 'mixed' } })
await reach(client, id, 'failed')
const steps = (await list(client, '?tag=workflow-step')).jobs
const [here, there] = ['default', 'hidden'].map(queue => steps.find(job => job.queue === queue)?.id ?? 'none')

t.test('a workflow shows no jobs of its steps, and nothing that they put out: they may be in queues that the viewer must not see', async t => {
  for (const key of [undefined, keys.narrow]) {
    const { api } = await openVisit(service.api.address, key)
    for (const job of [id, here ?? '']) {
      const flow = await api(`/queues/default/${job}/flow`)
      t.match(flow, { status: 200, body: { isFlowNode: false, flowRoot: null } })
      t.notMatch(flow.text, new RegExp(`${there ?? ''}|hidden|hunter2|password`))
    }
  }
})

t.test('a job shows nothing of a parent in another queue', async t => {
  const page = await (await openVisit(service.api.address)).api(`/queues/hidden/${there ?? ''}`)
  t.equal(page.status, 200)
  t.notMatch(page.text, new RegExp(id))
})
