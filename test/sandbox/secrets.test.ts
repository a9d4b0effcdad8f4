import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startReceiver } from '../callbacks/receiver.ts'
import { runToolyard } from '../cli/toolyard.ts'
import { logIn } from '../dashboard/visitor.ts'
import { connect, eras, rpc } from '../mcp/clients.ts'
import { startCollector, tracedTo } from '../support/collector.ts'
import { waitFor } from '../support/condition.ts'
import { startIssuer } from '../support/issuer.ts'
import { listening } from '../support/listening.ts'
import { monitorRedis } from '../support/redis-monitor.ts'
import { createService } from '../support/service.ts'

const secret = (name: string): string => `${name}-${randomBytes(12).toString('hex')}`
const secrets = {
  admin: secret('admin'),
  read: secret('read'),
  unknown: secret('unknown'),
  callbacks: secret('callbacks'),
  search: secret('search'),
  collector: secret('collector'),
  command: secret('command'),
  far: secret('far'),
  query: secret('query'),
  basic: secret('basic'),
  remote: secret('remote'),
  server: secret('server'),
  stored: secret('stored'),
  sealing: randomBytes(32).toString('hex')
}

/** An MCP server over stdio that tells its secret wherever it can. */
const server = `
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const secret = process.env.SERVER_TOKEN
console.error('started with ' + secret)
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'initialize') return send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } })
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] } })
  if (method === 'tools/call') return send({ id, result: { isError: true, content: [{ type: 'text', text: 'refused: ' + secret }] } })
  send({ id, error: { code: -32601, message: 'no such method' } })
})
`

/** An API that sends back what it was sent, and an MCP server at \`/mcp\` that does the same in its errors. */
async function reflect (request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const { url = '', headers } = request
  const json = (status: number, value: object): void => { response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value)) }
  if (!url.startsWith('/mcp')) return json(url.startsWith('/fails') ? 500 : 200, { url, headers })
  if (request.method !== 'POST') return json(405, {})
  const { id, method } = JSON.parse(body) as { id?: number, method: string }
  const told = `refused: ${JSON.stringify(headers)}`
  const serverInfo = { name: 'x', version: '1' }
  if (id === undefined) return void response.writeHead(202).end()
  if (method === 'initialize') return json(200, { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } })
  if (method === 'tools/list') return json(200, { jsonrpc: '2.0', id, result: { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] } })
  if (method === 'tools/call') return json(200, { jsonrpc: '2.0', id, result: { isError: true, content: [{ type: 'text', text: told }] } })
  json(200, { jsonrpc: '2.0', id, error: { code: -32_601, message: told } })
}

const api = createServer((request, response) => { void reflect(request, response) })
const far = `http://127.0.0.1:${await listening(t, api)}`
const collector = await startCollector(t)
const receiver = await startReceiver(t)
const issuer = await startIssuer(t)
const schema = { type: 'object' }
const headers = { Authorization: { setting: 'FAR_TOKEN', prefix: 'Bearer ' }, 'X-Basic': { setting: 'FAR_BASIC', prefix: 'Basic ', base64: true } }
const environment = {
  COMMAND_TOKEN: secrets.command,
  FAR_TOKEN: secrets.far,
  FAR_KEY: secrets.query,
  FAR_BASIC: secrets.basic,
  REMOTE_TOKEN: secrets.remote,
  SECRETS_KEY: secrets.sealing,
  SERVER_TOKEN: secrets.server,
  HTTP_PRIVATE_HOSTS: '127.0.0.1'
}
const service = await createService(t, {
  aof: true,
  files: {
    'tools/bin/uses': '#!/bin/sh\n[ -n "$COMMAND_TOKEN" ] && [ -z "$FAR_TOKEN$API_KEYS_JSON" ] && cat\n',
    'tools/bin/fails': '#!/bin/sh\nenv | grep -v COMMAND_TOKEN >&2\nexit 1\n',
    'tools/bin/tells': '#!/bin/sh\necho "$TOKEN"\ncat "$FILE" >&2\n[ -z "$SECRETS_KEY" ] && exit 1\n',
    'tools/server.js': server
  },
  tools: [
    { name: 'uses', schema, command: ['./tools/bin/uses'], envPassthrough: ['COMMAND_TOKEN'] },
    { name: 'fails', schema, command: ['./tools/bin/fails'], envPassthrough: ['COMMAND_TOKEN'] },
    { name: 'far', schema, http: { method: 'GET', url: `${far}/works`, headers, query: [{ name: 'key', setting: 'FAR_KEY' }] } },
    { name: 'far_fails', schema, http: { method: 'POST', url: `${far}/fails`, headers, query: [{ name: 'key', setting: 'FAR_KEY' }] } },
    { name: 'far_stored', schema, http: { method: 'POST', url: `${far}/fails`, headers: { Authorization: { secret: 'api', prefix: 'Bearer ' } }, query: [{ name: 'key', secret: 'api' }] } },
    { name: 'tells', schema, command: ['./tools/bin/tells'], permissions: [], secrets: { TOKEN: { secret: 'api', as: 'env' }, FILE: { secret: 'api', as: 'file' } } },
    { name: 'local', mcp: { command: 'node', args: ['./tools/server.js'], env: { SERVER_TOKEN: { setting: 'SERVER_TOKEN' } } } },
    { name: 'remote', mcp: { url: `${far}/mcp`, headers: { 'x-token': { setting: 'REMOTE_TOKEN' } } } }
  ],
  env: {
    ...environment,
    ...tracedTo(collector),
    API_KEYS_JSON: JSON.stringify([{ name: 'one', key: secrets.admin, role: 'admin' }, { name: 'two', key: secrets.read, role: 'read' }]),
    CALLBACK_SECRET: secrets.callbacks,
    CALLBACK_ALLOWLIST: '127.0.0.1',
    CALLBACK_ALLOW_HTTP: '1',
    CALLBACK_ALLOW_PRIVATE: '1',
    WEB_SEARCH_ENABLED: '1',
    WEB_SEARCH_BRAVE_KEY: secrets.search,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector=${secrets.collector}`,
    MCP_AUTH_ISSUER: issuer.url,
    LOG_LEVEL: 'trace'
  }
})
const { address } = service.api
const commands: string[] = []
await monitorRedis(t, service.redis.socket, words => { commands.push(words.join(' ')) })
/** Answers to callers, beside what the service keeps. */
const answers: string[] = []

interface Asked { body?: object, method?: string, key?: string, headers?: Record<string, string> }

async function ask (path: string, init: Asked = {}): Promise<Response> {
  const { body, method = body === undefined ? 'GET' : 'POST', key = secrets.admin, headers = { 'x-api-key': key } } = init
  const response = await fetch(`${address}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  answers.push(await response.clone().text())
  return response
}

async function call (name: string): Promise<number> {
  return (await ask(`/v1/tools/${name}`, { body: { word: 'hello' } })).status
}

/** Every file below a directory, as Latin-1: each byte is a character. */
async function filesBelow (dir: string): Promise<Array<[path: string, content: string]>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  return await Promise.all(entries.filter(entry => entry.isFile()).map(async ({ parentPath, name }): Promise<[string, string]> => {
    const path = join(parentPath, name)
    return [path, (await readFile(path)).toString('latin1')]
  }))
}

t.test('a full run leaves no key and no secret in output, logs, traces, answers and Redis', async t => {
  const accepted = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: service.dir, env: { ...environment, SANDBOX: 'off' } })
  t.equal(accepted.status, 0, accepted.stderr)
  await waitFor('the tools of servers are called', async () => [await call('local_tell'), await call('remote_tell')].every(status => status === 422), 120_000)
  t.equal(await call('uses'), 200)
  t.equal(await call('fails'), 422)
  t.equal(await call('far'), 200)
  t.equal(await call('far_fails'), 422)
  t.equal((await ask('/v1/secrets/api', { method: 'PUT', body: { value: secrets.stored } })).status, 200)
  t.equal(await call('far_stored'), 422)
  t.equal(await call('tells'), 422)
  t.match(answers.at(-1), /REDACTED/, 'it had the value, and told it')
  t.equal((await ask('/v1/secrets')).status, 200)
  await call('tools_web_search')
  for (const key of [secrets.read, secrets.unknown]) t.not((await ask('/v1/tools/uses', { key, body: {} })).status, 200)
  t.equal((await ask('/v1/agent-tools', { headers: { authorization: `Bearer ${secrets.unknown}` } })).status, 401)
  const submitted = await ask('/v1/jobs', { body: { type: 'agentcli.far', input: {}, callback_url: `${receiver.url}/one` } })
  const { job } = await submitted.json() as { job: { id: string } }
  await receiver.at('/one')
  const { token: ticket } = await (await ask('/v1/auth/sse-token', { body: { job_id: job.id } })).json() as { token: string }
  await ask(`/v1/jobs/${job.id}/stream?sse_token=${ticket}`, { headers: {} })
  const bearer = await issuer.token(`${address}/mcp`)
  for (const token of [bearer, `${bearer}x`]) {
    answers.push((await rpc(address, 'tools/call', { name: 'far', arguments: {} }, { headers: { authorization: `Bearer ${token}` } })).text)
  }
  for (const era of eras) {
    const { client } = await connect(t, address, secrets.admin, era)
    answers.push(JSON.stringify([await client.listTools(), await client.callTool({ name: 'local_tell', arguments: {} })]))
  }
  const login = await logIn(address, secrets.admin)
  const cookie = login.slice(login.indexOf('=') + 1)
  await ask('/dashboard/api/queues', { headers: { cookie: login } })
  for (const path of ['/openapi.json', '/v1/jobs', `/v1/jobs/${job.id}`, `/v1/jobs/${job.id}/logs`, '/v1/job-types', '/metrics', '/ready']) await ask(path)
  await waitFor('the spans have come', () => collector.spans.some(({ name }) => name === 'execute_tool far_fails'), 60_000)
  await Promise.all([service.api, ...service.workers].map(app => app.stop()))
  await service.redis.stop()

  const files = [...await filesBelow(service.dir), ...await filesBelow(dirname(service.redis.socket))]
  t.ok(files.some(([path, content]) => path.includes('audit') && content.includes('far_fails')), 'the audit is there')
  t.ok(files.some(([path, content]) => /api-\d+\.log$/.test(path) && content.includes('"level"')), 'the log is there')
  t.ok(files.some(([path, content]) => path.includes('aof') && content.includes(job.id)), 'what Redis keeps is there')
  t.ok(commands.some(command => command.includes(job.id)), 'what Redis was told is there')
  const all: Array<[where: string, content: string]> = [
    ...files,
    ['the commands to Redis', commands.join('\n')],
    ['the answers', answers.join('\n')],
    ['toolyard accept', accepted.stdout + accepted.stderr],
    // Each body follows its headers, which have the collector's own key.
    ['the spans', collector.texts.filter((_, index) => index % 2 === 1).join('\n')],
    ['the callbacks', JSON.stringify(receiver.received)]
  ]
  const looked = { ...secrets, bearer: bearer.split('.')[2] ?? '', cookie }
  for (const [name, value] of Object.entries(looked)) {
    const forms = [value, Buffer.from(value).toString('base64').replace(/=+$/, ''), Buffer.from(value).toString('hex'), encodeURIComponent(value)]
    t.strictSame(all.filter(([, content]) => forms.some(form => content.includes(form))).map(([where]) => where), [], name)
  }
  // It is told to who asks for it, once.
  t.strictSame(all.filter(([where, content]) => where !== 'the answers' && content.includes(ticket)).map(([where]) => where), [], 'ticket')
})
