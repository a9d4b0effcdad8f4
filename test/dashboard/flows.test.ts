import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { reach, submit, list } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'
import { openVisit } from './visitor.ts'

const hostile = join(import.meta.dirname, '../../../samples/hostile')
const narrow = 'test-narrow-key-0123456789'
const service = await createService(t, {
  files: { 'workspace/workflows.yaml': readFileSync(join(hostile, 'workflows.yaml'), 'utf8') },
  env: {
    TOOL_MANIFESTS: join(hostile, 'tools.json'),
    REDACT: 'hunter\\d+',
    API_KEYS_JSON: JSON.stringify([
      { name: 'admin', key: 'test-admin-key-0123456789', role: 'admin' },
      { name: 'narrow', key: narrow, role: 'admin', queue_allowlist: ['default'] }
    ])
  }
})
const { client } = service
const { id } = await submit(client, { type: 'workflow.run', input: { workflow: 'mixed' } })
await reach(client, id, 'failed')
const steps = (await list(client, '?tag=workflow-step')).jobs
const [here, there] = ['default', 'hidden'].map(queue => steps.find(job => job.queue === queue)?.id ?? 'none')

interface Flow { isFlowNode: boolean, flowRoot: { id: string, children: Array<{ id: string, queueName: string }> } | null }
const flowOf = async (key: string | undefined, path: string): Promise<{ flow: Flow, text: string }> => {
  const page = await (await openVisit(service.api.address, key)).api(`${path}/flow`)
  return { flow: page.body as unknown as Flow, text: page.text }
}

t.test('a flow shows the steps of a workflow in all queues of its viewer, and no outputs', async t => {
  const { flow, text } = await flowOf(undefined, `/queues/default/${id}`)
  t.equal(flow.isFlowNode, true)
  t.same(flow.flowRoot?.children.map(child => child.id).sort(), [here, there].sort())
  t.notMatch(text, /hunter2|password/)
})

t.test('a flow shows no step in a queue that the key may not use', async t => {
  for (const job of [id, here ?? '']) {
    const { flow, text } = await flowOf(narrow, `/queues/default/${job}`)
    t.same(flow.flowRoot?.children.map(child => child.id), [here], job)
    t.notMatch(text, new RegExp(`${there ?? ''}|hidden|hunter2`))
  }
})

t.test('a job shows nothing of a parent in another queue', async t => {
  const narrowElsewhere = await openVisit(service.api.address)
  const page = await narrowElsewhere.api(`/queues/hidden/${there ?? ''}`)
  t.equal(page.status, 200)
  t.notMatch(page.text, new RegExp(id))
})
