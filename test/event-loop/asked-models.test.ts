import t from 'tap'
import { meta, rpc } from '../mcp/clients.ts'
import { createService, testKeys } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

/* As much as a tool may ask of a model, in as many parts as that can have. */

const env = turnEnvironment()
const service = await createService(t, {
  // eslint-disable-next-line no-template-curly-in-string -- of the shell
  files: { 'tools/bin/ask': '#!/bin/sh\n[ -n "$TOOLYARD_ANSWER" ] && exec cat "$TOOLYARD_ANSWER"\nread -r args\nprintf "%s" "{\\"\\$ask\\":${args#*\\"ask\\":}"\n' },
  tools: [{ name: 'ask', schema: { type: 'object' }, command: ['./tools/bin/ask'], asks: true }],
  env
})
const { client, api: { address } } = service
const leavesLoopsFree = turnsOf(service, env)
const key = testKeys.admin
const capabilities = { elicitation: {}, sampling: { tools: {} }, roots: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
const about = { ...meta, 'io.modelcontextprotocol/clientCapabilities': capabilities }

const block = { type: 'text', text: '' }
const deep = (levels: number): object => levels === 0 ? {} : { a: deep(levels - 1) }
const message = (content: unknown): object => ({ role: 'user', content })
const worst: Record<string, object> = {
  'many messages': { messages: Array.from({ length: 560 }, () => message(block)) },
  'many parts': { messages: [message(Array.from({ length: 1_200 }, () => block))] },
  'many wrong parts': { messages: [message(Array.from({ length: 15_000 }, () => 0))] },
  'many tools': { messages: [], tools: Array.from({ length: 700 }, () => ({ name: '', inputSchema: { type: 'object' } })) },
  'many stops': { messages: [], stopSequences: Array.from({ length: 10_000 }, () => '') },
  'deep values': { messages: [], metadata: deep(80), tools: [{ name: 'a', inputSchema: { type: 'object', properties: deep(80) } }] },
  'a long text': { messages: [message({ ...block, text: '\u0001'.repeat(5_000) })] }
}

for (const [what, params] of Object.entries(worst)) {
  t.test(`promise 10: a model that is asked with ${what} is asked in short turns`, { timeout: 120_000 }, async t => {
    const one = { kind: 'sampling', params: { ...params, maxTokens: 1 } }
    const ids: string[] = []
    await leavesLoopsFree(t, `${what}, asked`, async () => {
      const result = await client.call('ask', { ask: [one, one] })
      t.ok(['INPUT_REQUIRED', 'QUESTION_INVALID'].includes(result.error?.code ?? ''), result.error?.message.slice(0, 100) ?? what)
      if (result.error?.code === 'INPUT_REQUIRED') ids.push(result.job_id ?? '')
    })
    const [id] = ids
    if (id === undefined) return
    await leavesLoopsFree(t, `${what}, shown`, async () => { t.equal((await client.request(`/v1/jobs/${id}`)).status, 200) })
    await leavesLoopsFree(t, `${what}, as a task`, async () => {
      t.match((await rpc(address, 'tasks/get', { taskId: id }, { key, meta: about })).body, { result: { status: 'input_required', inputRequests: { answer: {} } } })
    })
    await leavesLoopsFree(t, `${what}, of a client`, async () => {
      const { body } = await rpc(address, 'tools/call', { name: 'job_result', arguments: { job_id: id } }, { key, meta: about })
      t.match(body.result, { resultType: 'input_required', inputRequests: { answer_2: {} } })
    })
    await leavesLoopsFree(t, `${what}, answered`, async () => {
      const content = Array.from({ length: 900 }, () => block)
      const { status } = await client.request(`/v1/jobs/${id}/answer`, { body: { answer: { role: 'assistant', model: 'm', content }, number: 1 } })
      t.ok([200, 409].includes(status), `${status}`)
    })
    await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
  })
}

t.test('promise 10: thousands of directories are taken, or refused, in short turns', { timeout: 120_000 }, async t => {
  for (const count of [1_000, 30_000]) {
    const { job_id: id } = await client.call('ask', { ask: { kind: 'roots' } })
    const roots = Array.from({ length: count }, (_, at) => ({ uri: `file:///${at}` }))
    await leavesLoopsFree(t, `${count} directories`, async () => {
      const { status } = await client.request(`/v1/jobs/${id ?? ''}/answer`, { body: { answer: { roots }, number: 1 } })
      t.ok(count === 1_000 ? [200, 409].includes(status) : status === 400, `${status}`)
    })
  }
})
