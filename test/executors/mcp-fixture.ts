import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import type { McpTool } from '@toolyard/contract/terms'
import type { McpRun, McpServer, Tool } from '@toolyard/manifests'
import type { Outcome, RunContext } from '@toolyard/executors'
import { testTool } from '../support/tool.ts'
import { createFixture, whole, type Fixture, type FixtureOptions } from './fixture.ts'

export const program = fileURLToPath(new URL('hostile-server.js', import.meta.url))

/** A tool as the server of these tests describes it. */
export const described = (name: string): McpTool => ({ name, description: 'Says what it is given.', inputSchema: { type: 'object', properties: {} } })

/** A tool of the server `hostile-server.ts`, which behaves as its arguments say. */
export function toolOf (
  remote: string, args: readonly string[], fields: Partial<McpServer> = {}, run: Partial<McpRun> = {}
): Tool & { run: McpRun } {
  const source = { format: 'agentcli', file: '/manifest/tools.json', index: 0 } as const
  const server: McpServer = {
    name: 'sample',
    connection: { kind: 'stdio', program: process.execPath, args: [program, ...args], env: {} },
    prefix: 'sample_',
    filter: [],
    source,
    lock: '/manifest/tools.lock.json',
    ...fields
  }
  const made: McpRun = { kind: 'mcp', server, remote, digest: mcpDigest(described(remote)), ...run }
  return { ...testTool(made, { name: `sample_${remote}`, jobType: `mcp.sample_${remote}` }), run: made }
}

export interface Calls {
  fixture: Fixture
  call (remote: string, args?: Record<string, unknown>, context?: Partial<RunContext>, run?: Partial<McpRun>): Promise<Outcome>
  lines: string[]
}

/** Calls of a server that behaves as `mode` says. */
export function open (t: Test, mode: string[], options: FixtureOptions = {}, fields: Partial<McpServer> = {}): Calls {
  const fixture = createFixture(t, options)
  const lines: string[] = []
  return {
    fixture,
    lines,
    call: async (remote, args = {}, context = {}, run = {}) => whole(await fixture.executors.run(toolOf(remote, mode, fields, run), args, {
      jobId: 'job-1', timeoutMs: 20_000, signal: new AbortController().signal, log: line => { lines.push(line) }, ...context
    }))
  }
}
