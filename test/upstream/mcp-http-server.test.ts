import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolList } from '@toolyard/contract'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { createService, testKeys } from '../support/service.ts'

const script = (body: string): string => `#!/bin/sh\n${body}\n`
/** A server of 2026 compares these with headers. */
const placed = { region: { type: 'string', 'x-mcp-header': 'Region' }, floor: { type: 'integer', 'x-mcp-header': 'Floor' }, lit: { type: 'boolean', 'x-mcp-header': 'Lit' } }
const own = [{ name: 'say', description: 'Says it.', schema: { type: 'object', properties: { text: { type: 'string' }, place: { type: 'object', properties: placed } } }, command: ['./tools/bin/echo'] }]
const secret = testKeys.admin
const service = await createService(t, {
  tools: own,
  files: { 'tools/bin/echo': script('cat') },
  env: { FAR_KEY: secret, HTTP_PRIVATE_HOSTS: '127.0.0.1' }
})

/** A server that sends everything elsewhere, and one that is elsewhere and must hear nothing. */
const heard: IncomingHttpHeaders[] = []
const elsewhere = await listen(createServer((request, response) => {
  heard.push(request.headers)
  response.end('{}')
}))
const redirecting = await listen(createServer((_request, response) => {
  response.writeHead(307, { location: `${elsewhere}/mcp` }).end()
}))

async function listen (server: Server): Promise<string> {
  return `http://127.0.0.1:${await listening(t, server)}`
}

async function name (server: object): Promise<void> {
  await writeFile(join(service.dir, 'tools.json'), JSON.stringify({ tools: [...own, server] }))
}

const headers = { 'x-api-key': { setting: 'FAR_KEY' } }

async function accept (hosts = '127.0.0.1'): Promise<{ status: number | null, output: string }> {
  const env = { FAR_KEY: secret, HTTP_PRIVATE_HOSTS: hosts, SANDBOX: 'off', WORKSPACE_DIR: join(service.dir, 'workspace') }
  const { status, stdout, stderr } = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: service.dir, env })
  return { status, output: stdout + stderr }
}

t.test('the tools of a server with a URL are accepted, published and called; the server is Toolyard itself', async t => {
  await name({ name: 'far', mcp: { url: `${service.api.address}/mcp`, headers }, tools: ['say'] })
  const { status, output } = await accept()
  t.equal(status, 0, output)
  t.match(output, /say is new/)
  await waitFor('it is published', async () => (await service.client.request<ToolList>('/v1/agent-tools')).body.tools.some(tool => tool.function.name === 'far_say'))
  const result = await waitFor('the worker knows it', async () => {
    const called = await service.client.call('far_say', { text: 'hello' })
    return called.ok ? called : undefined
  })
  t.match(result, { ok: true, output: { text: 'hello' } })
  const places = [
    { region: 'eu-1', floor: -3, lit: false }, { region: 'Übersee €😀' }, { region: '' }, { region: ' north ' }, { region: 'a\r\nb: c' }, { region: 'a\tb' },
    { region: '=?base64?eA==?=' }, { floor: 9_007_199_254_740_991 }, {}
  ]
  for (const place of places) t.strictSame((await service.client.call('far_say', { place })).output, { place }, JSON.stringify(place))
  const answer = await service.client.request('/v1/tools/far_say', { body: '{"place":{"floor":3.0}}' })
  t.match(answer, { status: 200, text: '{"place":{"floor":3.0}}' })
})

t.test('a redirect to another origin is refused, and nothing is sent there', async t => {
  await name({ name: 'far', mcp: { url: `${redirecting}/mcp`, headers } })
  const { status, output } = await accept()
  t.not(status, 0, output)
  t.match(output, /far/)
  t.notOk(output.includes(secret))
  t.strictSame(heard, [])
})

t.test('a private host that the operator did not name is not reached', async t => {
  await name({ name: 'far', mcp: { url: `${service.api.address}/mcp`, headers } })
  const { status, output } = await accept('')
  t.not(status, 0, output)
  t.match(output, /HTTP_PRIVATE_HOSTS/)
})
