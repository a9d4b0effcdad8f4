import { orElse } from '@toolyard/contract/terms'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { SessionView, ToolList } from '@toolyard/contract'
import { toolyardProgram } from '../cli/toolyard.ts'
import { program } from '../executors/mcp-fixture.ts'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'

const service = await createService(t, {
  files: { 'tools/server.mjs': readFileSync(program, 'utf8') },
  tools: [{ name: 'sample', mcp: { command: 'node', args: ['./tools/server.mjs'] } }]
})
const { client } = service
await promisify(execFile)(process.execPath, [toolyardProgram, 'accept', '--yes', 'tools.json'], { cwd: service.dir, env: { PATH: process.env['PATH'], ...service.env } })
await waitFor('the tools are published', async () => (await client.request<ToolList>('/v1/agent-tools')).body.tools.some(tool => tool.function.name === 'sample_echo'))

/** Processes of the server, with those that make up their boxes. */
function servers (): string[] {
  const program = join(service.dir, 'tools/server.mjs')
  return readdirSync('/proc').filter(pid => orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program), false))
}

async function call (session: string | undefined, name: string, args: object): Promise<unknown> {
  return await client.call(name, args, { session })
}

t.test('a server of a session ends soon after the session is removed, with a call that is under way; others go on', async t => {
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  t.match(await call(undefined, 'sample_echo', { text: 'shared' }), { ok: true, output: 'shared' })
  const shared = servers()
  t.match(await call(id, 'sample_echo', { text: 'own' }), { ok: true, output: 'own' })
  t.ok(servers().length > shared.length)
  await client.request(`/v1/sessions/${id}`, { method: 'DELETE' })
  await waitFor('its server is gone', () => servers().length === shared.length, 10_000)
  t.same(servers(), shared)

  const { body: { session: { id: other } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  const slow = call(other, 'sample_slow', { ms: 60_000 })
  await waitFor('another server runs', () => servers().length > shared.length)
  await client.request(`/v1/sessions/${other}`, { method: 'DELETE' })
  t.match(await slow, { ok: false, error: { code: 'SESSION_GONE' } })
  await waitFor('it is gone', () => servers().length === shared.length, 10_000)
  t.match(await call(undefined, 'sample_echo', { text: 'shared' }), { ok: true, output: 'shared' })
})
