import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { list, reach, submit } from '../jobs/submission.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { createClient } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'

t.setTimeout(240_000)

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })
/** A system takes several MB of an answer that nobody reads, but not all of it. */
const outputBytes = 12_000_000
/** As many as fit into 128 MiB. */
const most = 11
const tools = ['large', 'waits'].map(name => ({ name, command: [`./tools/bin/${name}.sh`], timeoutSec: 200, schema: { type: 'object' } }))
const { api, dir } = await createService(t, {
  tools,
  files: {
    'tools/bin/large.sh': `#!/bin/sh\nhead -c ${outputBytes} /dev/zero | tr '\\0' x\n`,
    // More than an answer may be that goes beyond.
    'tools/bin/waits.sh': "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.1; done\nhead -c 3000000 /dev/zero | tr '\\0' x\n"
  },
  env: { API_KEYS_JSON, MAX_OUTPUT_BYTES: '16777216' }
})
const [acme, other] = [createClient(api.address, keys.acme), createClient(api.address, keys.other)]
const { id } = await submit(acme, { type: 'agentcli.large' })
await reach(acme, id, 'succeeded')

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const question = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'waits', arguments: {}, _meta: meta } })
const stream = requestOf(`GET /v1/jobs/${id}/stream`)
const waiting = requestOf('POST /mcp', question, ['content-type: application/json', 'mcp-protocol-version: 2026-07-28', 'mcp-method: tools/call', 'mcp-name: waits'])

t.test('a tenant that reads none of its streams of jobs gets no more of them than of other answers', async t => {
  const sockets = await unread(t, stream, most + 5)
  const refused = await waitFor('work is refused', async () => {
    const answer = await acme.request('/v1/jobs', { body: { type: 'agentcli.large' } })
    return answer.status === 429 && answer
  }, 60_000)
  t.match(refused.body, { error: { code: 'RATE_LIMITED', message: /answers that this tenant has not read/ } })
  t.equal((await other.request('/v1/agent-tools')).status, 200)
  const answers = await Promise.all(sockets.map(async socket => await text(socket)))
  t.equal(answers.filter(answer => answer.length > outputBytes).length, most)
  // One that comes late is refused before it begins, as the work is.
  const why = /: the answers that were not read leave no room for this one|answers that this tenant has not read/
  t.equal(answers.filter(answer => answer.length <= outputBytes && why.test(answer)).length, 5)
  await waitFor('it is served again', async () => (await acme.request(`/v1/jobs/${id}`)).status === 200)
})

t.test('an answer of MCP that is a stream, and for which there is no room, is an error that says so', async t => {
  const [call] = await Promise.all([neverRead(waiting), waitFor('it runs', async () => (await list(acme, '?status=running')).jobs.length === 1)])
  const sockets = await unread(t, stream, most)
  await writeFile(join(dir, 'workspace/go'), '')
  const answer = await text(call)
  t.ok(answer.includes('"code":"UNAVAILABLE","details":{"may_exist":true}'), answer.slice(-300))
  for (const socket of sockets) socket.destroy()
  await waitFor('it is served again', async () => (await acme.request('/v1/jobs')).status === 200)
  const { jobs: [done] } = await list(acme)
  t.match(done, { tool: 'waits', status: 'succeeded' }, 'its job tells of it')
})

/** All at once: most later ones would be refused before they begin. */
async function unread (t: Cleanup, request: string, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, async () => await neverRead(request)))
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  await Promise.all(sockets.map(async socket => await waitFor('it is answered', () => socket.readableLength > 0, 60_000)))
  return sockets
}

function requestOf (line: string, body = '', headers: readonly string[] = []): string {
  const own = [`x-api-key: ${keys.acme}`, 'accept: text/event-stream', 'connection: close', `content-length: ${body.length}`]
  return `${[`${line} HTTP/1.1`, 'host: x', ...own, ...headers].join('\r\n')}\r\n\r\n${body}`
}

async function neverRead (request: string): Promise<Socket> {
  const { hostname, port } = new URL(api.address)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  // Reads a little ahead, and no more.
  socket.on('readable', () => {})
  socket.write(request)
  return socket
}
