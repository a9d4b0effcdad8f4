import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ToolList } from '@toolyard/contract'
import t from 'tap'
import { toolyardProgram } from '../cli/toolyard.ts'
import { reach } from '../jobs/submission.ts'
import { connect, eras } from '../mcp/clients.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = await readFile(join(root, 'docs/mcp-servers.md'), 'utf8')
const [, example = ''] = /^```json\n([^]*?)^```$/m.exec(page) ?? []
const snippets = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = '']) => text)
const { tools: [files] } = JSON.parse(example) as { tools: [object] }
const everything = { name: 'all', prefix: '', asks: true, mcp: { command: 'node', args: ['./tools/node_modules/@modelcontextprotocol/server-everything/dist/index.js'] } }

const media = { ...files, name: 'media', tools: ['read_media_file'] }

const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const service = await createService(t, { tools: [files, media, everything] })
await writeFile(join(service.dir, 'workspace/dot.png'), Buffer.from(image, 'base64'))
await installServers()

/** Puts the servers and all that they need where `npm install --prefix tools` would. */
async function installServers (): Promise<void> {
  const modules = join(service.dir, 'tools/node_modules')
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, { dependencies?: Record<string, string> }> }
  const wanted = ['node_modules/@modelcontextprotocol/server-filesystem', 'node_modules/@modelcontextprotocol/server-everything']
  for (const place of wanted) {
    for (const name of Object.keys(packages[place]?.dependencies ?? {})) {
      const own = `${place}/node_modules/${name}`
      const found = packages[own] === undefined ? `node_modules/${name}` : own
      if (packages[found] !== undefined && !wanted.includes(found)) wanted.push(found)
    }
  }
  for (const place of wanted.filter(each => !each.slice(13).includes('/node_modules/'))) await cp(join(root, place), join(service.dir, 'tools', place), { recursive: true })
  await mkdir(join(modules, '.bin'))
  await symlink('../@modelcontextprotocol/server-filesystem/dist/index.js', join(modules, '.bin/mcp-server-filesystem'))
}

async function shell (script: string): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `npx () { test "$1" = toolyard && shift && ${JSON.stringify(process.execPath)} ${JSON.stringify(toolyardProgram)} "$@"; }\n${script}`], {
    cwd: service.dir,
    env: { PATH: process.env['PATH'], WORKSPACE_DIR: service.env['WORKSPACE_DIR'], TOOLYARD_URL: service.api.address, TOOLYARD_API_KEY: testKeys.admin }
  })
  return stdout
}

const published = async (): Promise<string[]> => (await service.client.request<ToolList>('/v1/agent-tools')).body.tools.map(tool => tool.function.name)

async function call (tool: string, args: object): Promise<{ status: number, body: unknown }> {
  const response = await fetch(`${service.api.address}/v1/tools/${tool}`, {
    method: 'POST', headers: { 'x-api-key': testKeys.admin, 'content-type': 'application/json' }, body: JSON.stringify(args)
  })
  return { status: response.status, body: await response.json() }
}

t.test('the commands of docs/mcp-servers.md run as they stand: nothing is published before it is accepted, and then at once', async t => {
  t.notOk((await published()).some(name => name.startsWith('files_') || name === 'echo'))
  const [accept = '', validate = '', curl = ''] = snippets
  t.equal(snippets.length, 3)
  t.match(await shell(accept), /\+ read_text_file is new/)
  t.match(await shell(validate), /Validated 1 manifest file\(s\)/)
  await waitFor('the tools are published', async () => (await published()).includes('files_read_text_file'))
  t.notOk((await published()).includes('files_write_file'), 'the filter leaves it out')
  t.match(JSON.parse(await shell(curl)), { content: '# A workspace\n' })
})

t.test('a real server gets calls of its tools through the queue: texts, structured content and images', async t => {
  t.strictSame(await call('echo', { message: 'hello' }), { status: 200, body: 'Echo: hello' })
  t.match(await call('get-structured-content', { location: 'Chicago' }), { status: 200, body: { temperature: Number, conditions: String } })
  t.match(await call('get-tiny-image', {}), { status: 200, body: { content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png' }, { type: 'text' }] } })
  t.match(await call('get-sum', { a: 2, b: 'x' }), { status: 400, body: { error: { code: 'INVALID_ARGUMENTS' } } }, 'arguments are checked with its schema')
  t.match(await call('files_read_text_file', { path: '/etc/passwd' }), { status: 422, body: { error: { code: 'TOOL_FAILED', message: /denied/i } } })
})

t.test('an image of a real server is an image for the models of a provider that takes one from tools', async t => {
  const content = [{ type: 'tool_use', id: 'c', name: 'get-tiny-image', input: {} }, { type: 'tool_use', id: 'd', name: 'media_read_media_file', input: { path: 'dot.png' } }]
  const { body } = await service.client.request<{ messages: unknown[] }>('/v1/agent-tools/invoke-batch', { body: { content, wait_ms: 60_000 } })
  t.match(body.messages, [{
    role: 'user',
    content: [
      { content: [{ type: 'text', text: /shown as an image/ }, { type: 'image', source: { type: 'base64', media_type: 'image/png' } }] },
      { content: [{ type: 'text', text: /shown as an image/ }, { type: 'image', source: { media_type: 'image/png', data: image } }] }
    ]
  }])
})

t.test('the title that was accepted is published, and the schema of outputs, which OpenAPI has as well', async t => {
  const outputSchema = { type: 'object', properties: { temperature: { type: 'number' } }, required: ['temperature', 'conditions', 'humidity'] }
  const { client } = await connect(t, service.api.address, testKeys.admin, '2026-07-28')
  t.match((await client.listTools()).tools.find(({ name }) => name === 'get-structured-content'), { title: 'Get Structured Content Tool', outputSchema })
  const called = await client.callTool({ name: 'get-structured-content', arguments: { location: 'Chicago' } })
  t.match(called.structuredContent, { temperature: Number })
  const { body } = await service.client.request<{ components: { schemas: Record<string, object> } }>('/openapi.json')
  t.match(body.components.schemas['get-structured-content.output'], outputSchema)
})

t.test('an output that was promised and is made of blocks is both: the structure, and the image that a model sees', async t => {
  for (const era of eras) {
    const { client } = await connect(t, service.api.address, testKeys.admin, era)
    const block = { type: 'image', data: image, mimeType: 'image/png' }
    await client.listTools()
    t.match(await client.callTool({ name: 'media_read_media_file', arguments: { path: 'dot.png' } }), { content: [block], structuredContent: { content: [block] }, isError: undefined }, era)
  }
})

t.test('a real server asks a model during a call, and gets what somebody answers; it hears of no directories, which it would want at once', async t => {
  const { client } = service
  t.notOk((await published()).includes('get-roots-list'), 'a tool for clients with directories')
  const asked = await client.call('trigger-sampling-request', { prompt: 'Which day is it?' })
  t.match(asked.error?.details, {
    question: { kind: 'sampling', params: { systemPrompt: 'You are a helpful test server.', messages: [{ content: { text: /Which day is it/ } }], maxTokens: 100 } }
  })
  const id = asked.job_id ?? ''
  const answer = { role: 'assistant', content: { type: 'text', text: 'Sunday' }, model: 'm' }
  t.equal((await client.request(`/v1/jobs/${id}/answer`, { body: { answer } })).status, 200)
  t.match(await reach(client, id, 'succeeded'), { result: /LLM sampling result.*Sunday/s })
})

t.test('a server sees none of the variables of the service', async t => {
  const { body } = await call('get-env', {})
  const seen = JSON.parse(String(body)) as Record<string, string>
  t.strictSame(Object.keys(seen).filter(name => !['PATH', 'HOME', 'LANG', 'PWD', 'OLDPWD', 'NODE_OPTIONS'].includes(name)), [])
})

t.test('a tool is not called when its server\'s description differs from the accepted one', async t => {
  const lock = join(service.dir, 'toolyard.lock.json')
  const text = await readFile(lock, 'utf8')
  await writeFile(lock, text.replace('Echoes back the input string', 'Echoes back'))
  const described = await waitFor('the changed file is read', async () => {
    const { tools } = (await service.client.request<ToolList>('/v1/agent-tools')).body
    return tools.find(tool => tool.function.name === 'echo')?.function.description === 'Echoes back'
  })
  t.ok(described)
  await waitFor('the worker refuses', async () => (await call('echo', { message: 'hello' })).status === 503)
  t.match(await call('echo', { message: 'hello' }), { body: { error: { code: 'TOOL_UNAVAILABLE', message: /otherwise than it was accepted.*toolyard accept/ } } })
})
