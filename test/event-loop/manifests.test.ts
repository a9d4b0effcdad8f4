import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

/** As many tools as a large deployment has; the schemas of all are new in each version. */
const toolsOf = (version: number): object[] => Array.from({ length: 2_000 }, (_, at) => ({
  name: `tool_${at}`,
  description: `Does the work number ${at} in version ${version}.`,
  command: ['./tools/bin/none'],
  schema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: `A path of version ${version}`, pattern: '^[a-z/]+$' },
      count: { type: 'integer', minimum: 0, default: at },
      mode: { enum: ['a', 'b', 'c'] },
      options: { type: 'object', properties: { deep: { type: 'boolean' }, names: { type: 'array', items: { type: 'string' } } }, additionalProperties: false }
    },
    required: ['path']
  }
}))

const env = turnEnvironment()
const service = await createService(t, { files: { 'tools/bin/none': '#!/bin/sh\necho\n' }, tools: toolsOf(0), env })
const leavesLoopsFree = turnsOf(service, env)
let version = 0

/** Ends when the API and the worker have the new version: a tool of this version alone has answered. */
async function change (): Promise<void> {
  version++
  const probe = { name: `probe_${version}`, command: ['./tools/bin/none'] }
  writeFileSync(join(service.dir, 'tools.json'), JSON.stringify({ tools: [...toolsOf(version), probe] }))
  await waitFor('the new version serves', async () => (await service.client.request(`/v1/tools/probe_${version}`, { method: 'POST', body: {} })).status === 200, 60_000)
}

t.test('promise 10: a new version of 2,000 tools holds up neither the API nor a worker when it is read', async t => {
  await leavesLoopsFree(t, 'a new version', change)
})

t.test('promise 10: building the list of 2,000 tools again holds up nothing', async t => {
  for (const path of ['/v1/agent-tools', '/v1/agent-tools?format=anthropic', '/v1/agent-tools?strict=true', '/v1/job-types']) {
    await leavesLoopsFree(t, path, async () => {
      await service.client.request('/v1/job-types/agentcli.tool_1', { method: 'PATCH', body: { enabled: version++ % 2 === 0 } })
      t.equal((await service.client.request(path)).status, 200)
    })
  }
})

t.test('promise 10: the list of 2,000 tools holds up nothing when clients of MCP ask for it', async t => {
  const list = async (): Promise<void> => {
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { status, body } = await service.client.request<{ result: { tools: Array<{ name: string }>, nextCursor?: string } }>('/mcp', {
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor } },
        headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' }
      })
      t.equal(status, 200)
      names.push(...body.result.tools.map(({ name }) => name))
      cursor = body.result.nextCursor
    } while (cursor !== undefined)
    t.ok(names.includes('tool_1999'), 'the pages list every tool')
  }
  await list()
  await leavesLoopsFree(t, 'tools/list that is made anew', async () => {
    await service.client.request('/v1/job-types/agentcli.tool_1', { method: 'PATCH', body: { enabled: version++ % 2 === 0 } })
    await list()
  })
  await leavesLoopsFree(t, 'tools/list', list)
})
