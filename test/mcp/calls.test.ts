import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { reach, running } from '../jobs/submission.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { connect, eras, textAt } from './clients.ts'

const { API_KEYS_JSON } = makeKeys({
  read: {}, limited: { queue_allowlist: ['allowed'], permissions: ['read_repo', 'write_files'], sse: false }
})
const script = (body: string): string => `#!/bin/sh\n${body}\n`
const { client: http, api, startApi } = await createService(t, {
  files: {
    ...programs,
    'tools/bin/steps': script('for n in 1 2 3; do echo "step $n" >&2; sleep 0.05; done; echo done'),
    'tools/bin/blocks': script(
      'cat >/dev/null; echo \'{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"a picture"}]}\''
    )
  },
  tools: [
    ...entries,
    { name: 'steps', schema: { type: 'object' }, command: ['./tools/bin/steps'], idempotent: true, permissions: [] },
    { name: 'blocks', schema: { type: 'object' }, command: ['./tools/bin/blocks'] },
    { name: 'bare', schema: { type: 'object' }, command: ['./tools/bin/echo'] },
    { name: 'free', schema: { type: 'object', properties: { a: true, b: false, 1: { type: 'string' } } }, command: ['./tools/bin/echo'] },
    { name: 'online', schema: { type: 'object' }, command: ['./tools/bin/echo'], permissions: ['network'] }
  ],
  env: { API_KEYS_JSON }
})

const other = await startApi()

async function jobOf (result: { _meta?: Record<string, unknown> | undefined }): Promise<Record<string, unknown>> {
  const { body } = await http.request<{ job: Record<string, unknown> }>(`/v1/jobs/${String(result._meta?.['toolyard/job_id'])}`)
  return body.job
}

for (const era of eras) {
  t.test(`a client of ${era}`, async t => {
    const { client } = await connect(t, api.address, testKeys.admin, era)

    t.test('sees the tools of GET /v1/agent-tools, in the same order, with annotations', async t => {
      const { tools } = await client.listTools()
      const { body } = await http.request<{ tools: Array<{ function: { name: string, parameters: unknown } }> }>('/v1/agent-tools')
      t.same(tools.map(({ name }) => name), body.tools.map(tool => tool.function.name))
      t.same(
        tools.find(({ name }) => name === 'echo_strict')?.inputSchema,
        body.tools.find(tool => tool.function.name === 'echo_strict')?.function.parameters
      )
      const hints = (name: string): unknown => tools.find(tool => tool.name === name)?.annotations
      t.same(hints('steps'), { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false })
      t.same(hints('echo'), { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false })
      t.same(hints('online'), { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true })
      t.notOk(hints('off'), 'a tool that is off is not listed')
      t.same(tools.find(({ name }) => name === 'free')?.inputSchema.properties, { a: {}, b: { not: {} }, 1: { type: 'string' } }, 'the SDK refuses a list for a property that is no object')
    })

    t.test('reads properties in each schema: a tool without is refused by OpenAI, and other clients ask for an argument of theirs', async t => {
      const { tools } = await client.listTools()
      t.strictSame(tools.find(({ name }) => name === 'bare')?.inputSchema, { type: 'object', properties: {} })
    })

    t.test('calls a tool: text, and structured content where the output is an object', async t => {
      const result = await client.callTool({ name: 'echo', arguments: { a: [1, { b: null }] } })
      t.same(result.structuredContent, { a: [1, { b: null }] })
      t.same(JSON.parse(textAt(result)), result.structuredContent)
      t.notOk(result.isError)
      t.match(await jobOf(result), { status: 'succeeded', tool: 'echo', queue: 'default' })
      const text = await client.callTool({ name: 'value', arguments: { text: 'plain "text"\n€' } })
      t.same(text.content, [{ type: 'text', text: 'plain "text"\n€' }])
      t.notOk(text.structuredContent)
      for (const value of [null, false, 0, [1]]) {
        t.equal(
          textAt(await client.callTool({ name: 'value', arguments: { value } })), JSON.stringify(value)
        )
      }
    })

    t.test('gets blocks of MCP content unchanged', async t => {
      const { content } = await client.callTool({ name: 'blocks' })
      t.same(content, [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }, { type: 'text', text: 'a picture' }])
    })

    t.test('reads failures as results, with the message, the code and the details', async t => {
      const failed = await client.callTool({ name: 'fail', arguments: { stderr: '{"error":"no luck","why":1}' } })
      t.equal(failed.isError, true)
      const text = 'no luck\n\nTOOL_FAILED {"why":1}'
      t.same(failed.content, [{ type: 'text', text }], 'one block, which is no JSON: clients take several for several answers, or show JSON alone')
      t.match(failed._meta, { 'toolyard/error': { code: 'TOOL_FAILED', message: 'no luck' } })
      const invalid = await client.callTool({ name: 'echo_strict', arguments: { word: 1 } })
      t.match(invalid._meta, { 'toolyard/error': { code: 'INVALID_ARGUMENTS' } })
      t.equal(invalid.isError, true)
    })

    t.test('gets the same error for a tool that its key may not see and for one that doesn\'t exist', async t => {
      for (const name of ['no_such', 'off', 'toString', '__proto__', 'x'.repeat(5_000)]) {
        await t.rejects(client.callTool({ name }), { code: -32_602, message: /Unknown tool/ }, name.slice(0, 20))
      }
      const { client: limited } = await connect(t, `${api.address}`, testKeys.limited, era)
      t.notOk((await limited.listTools()).tools.some(({ name }) => name === 'online'))
      await t.rejects(limited.callTool({ name: 'online' }), { code: -32_602 })
    })

    t.test('gets progress for each line that the tool writes to its log', async t => {
      const steps: Array<{ progress: number, message?: string | undefined }> = []
      await client.callTool({ name: 'steps' }, { onprogress: step => { steps.push(step) } })
      t.match(steps, [{ progress: 1, message: 'step 1' }, { progress: 2, message: 'step 2' }, { progress: 3, message: 'step 3' }])
    })

    t.test('cancels a call, and the job is cancelled', async t => {
      const abort = new AbortController()
      const calling = client.callTool({ name: 'nap', arguments: { ms: 15_000 } }, { signal: abort.signal })
      const id = await running(http)
      abort.abort()
      await t.rejects(calling)
      await reach(http, id, 'cancelled')
    })

    t.test('with a read key, lists the tools and can\'t call them', async t => {
      const { client: reader } = await connect(t, api.address, testKeys.read, era)
      t.ok((await reader.listTools()).tools.length > 0)
      await t.rejects(reader.callTool({ name: 'echo' }), /admin API key/)
    })

    t.test('is answered by any process', async t => {
      const { transport } = await connect(t, api.address, testKeys.admin, era)
      const session = transport.sessionId
      t.equal(session === undefined, era === '2026-07-28', 'only clients of 2025 have sessions')
      const answer = await fetch(`${other.address}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-api-key': testKeys.admin,
          'mcp-protocol-version': '2025-11-25',
          ...session === undefined ? {} : { 'mcp-session-id': session }
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      })
      t.equal(answer.status, 200)
    })
  })
}
