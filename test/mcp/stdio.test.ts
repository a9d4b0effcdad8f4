import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { eras, textAt, type Era } from './clients.ts'

const { client: http, api } = await createService(t, { files: programs, tools: entries })
const program = resolve('apps/cli/bin/toolyard.js')

/** Connects the SDK's client to a process of `toolyard mcp`. */
async function start (t: Test, era: Era, env: Record<string, string>, args: string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era === '2026-07-28' ? { pin: era } : 'legacy' } })
  const variables = { PATH: process.env['PATH'] ?? '', TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin, ...env }
  t.teardown(() => client.close())
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', ...args], env: variables, stderr: 'ignore' }))
  return client
}

for (const era of eras) {
  t.test(`a client of ${era} uses the service through toolyard mcp`, async t => {
    const client = await start(t, era, {})
    t.ok((await client.listTools()).tools.some(({ name }) => name === 'echo'))
    const result = await client.callTool({ name: 'echo', arguments: { text: 'ü' } })
    t.same(result.structuredContent, { text: 'ü' })
    t.equal(textAt(await client.callTool({ name: 'fail', arguments: { stderr: 'no' } })), 'no')
    await t.rejects(client.callTool({ name: 'no_such' }), { code: -32_602 })

    const abort = new AbortController()
    const calling = client.callTool({ name: 'nap', arguments: { ms: 15_000 } }, { signal: abort.signal })
    const id = await waitFor('the job runs', async () => {
      const { body } = await http.request<{ jobs: Array<{ id: string }> }>('/v1/jobs?status=running')
      return body.jobs[0]?.id
    })
    abort.abort()
    await t.rejects(calling)
    await waitFor('the job is cancelled', async () => {
      const { body } = await http.request<{ job: { status: string } }>(`/v1/jobs/${id}`)
      return body.job.status === 'cancelled'
    })
  })
}

t.test('the queue of its calls can be named', async t => {
  const client = await start(t, '2025-11-25', { TOOLYARD_API_KEY: testKeys.limited }, ['--queue', 'allowed'])
  t.same((await client.callTool({ name: 'echo', arguments: { a: 1 } })).structuredContent, { a: 1 })
})

t.test('an unknown key and a missing service are reported', async t => {
  await t.rejects(start(t, '2025-11-25', { TOOLYARD_API_KEY: 'wrong' }), /Unauthorized/)
  await t.rejects(start(t, '2025-11-25', { TOOLYARD_URL: 'http://127.0.0.1:9' }), /fetch failed/)
})
