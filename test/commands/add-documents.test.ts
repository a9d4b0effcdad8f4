import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runToolyard, type Ran } from '../cli/toolyard.ts'
import { writeFiles } from '../support/files.ts'

// Documents of others as they are published: settings of other programs, OpenAPI, collections of skills.

interface Project {
  add: (name: string, text: string) => Promise<Ran>
  addFiles: (name: string, files: Record<string, string>) => Promise<Ran>
  /** The manifest that was made of a document. */
  manifest: (name: string) => string
}

function project (t: Test): Project {
  const dir = t.testdir({ work: {} })
  const work = join(dir, 'work')
  const run = async (source: string, name: string): Promise<Ran> => await runToolyard(['add', source, '--name', name, '--yes'], { cwd: work, env: {} })
  return {
    async add (name, text) {
      writeFileSync(join(dir, `${name}.json`), text)
      return await run(join(dir, `${name}.json`), name)
    },
    async addFiles (name, files) {
      return await run(writeFiles(join(dir, name), files), name)
    },
    manifest (name) {
      const { entries } = JSON.parse(readFileSync(join(work, 'toolyard.lock.json'), 'utf8')) as { entries: Record<string, { path: string }> }
      return readFileSync(join(work, entries[name]?.path ?? '', 'tools.json'), 'utf8')
    }
  }
}

const skill = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}.\n---\nText\n`

t.test('settings with comments and commas at the end of lists are read as their program reads them', async t => {
  const { add, manifest } = project(t)
  const text = `{
  // servers of the team
  "servers": {
    "docs": {
      "type": "http",
      "url": "https://docs.example/mcp", /* with // inside of it */
      "headers": { "X-Team": "a, ] // b", },
    },
    "my server": { "command": "docs-server", "args": ["--stdio",], },
  },
}`
  t.match(await add('team', text), { status: 0, stdout: /MCP server docs: https:\/\/docs\.example\/mcp.*\n {4}permissions: network\n.*MCP server my_server: docs-server --stdio/ })
  t.strictSame(JSON.parse(manifest('team')), {
    tools: [
      { name: 'docs', mcp: { type: 'http', url: 'https://docs.example/mcp', headers: { 'X-Team': 'a, ] // b' } } },
      { name: 'my_server', mcp: { command: 'docs-server', args: ['--stdio'] } }
    ]
  })
})

t.test('servers are found where other programs have them, and names that no server may have are made ones', async t => {
  const { add } = project(t)
  const server = { command: 'docs-server' }
  for (const [at, held] of [
    { context_servers: { docs: server } }, { mcp: { servers: { docs: server } } }, { mcp: { docs: server } }, { 'amp.mcpServers': { docs: server } },
    { mcpServers: [{ name: 'docs', ...server }] }, { mcp_servers: { docs: server } }, { tools: ['read', '@docs'], mcpServers: { docs: server } }
  ].entries()) t.match(await add(`holder-${at}`, JSON.stringify({ theme: 'dark', ...held })), { status: 0, stdout: /MCP server docs: docs-server/ }, JSON.stringify(held))
  t.match(await add('whole', JSON.stringify({ docs: server, far: { url: 'https://far.example/mcp' } })), { status: 0, stdout: /MCP server docs: docs-server[^]*MCP server far: https/ })
  t.match(await add('one', JSON.stringify(server)), { status: 1, stderr: /The file is one MCP server without a name: write \{"mcpServers": / })
  t.match(await add('names', JSON.stringify({ servers: { 'io.example/docs': server, 'io.example docs': server } })), { status: 0, stdout: /MCP server io\.example_docs: .*\n.*\n.*MCP server io\.example_docs_2: / })
})

t.test('servers that their program has switched off beside them are switched off', async t => {
  const { add, manifest } = project(t)
  const mcpServers = { one: { command: 'one' }, two: { command: 'two' } }
  for (const [at, off] of [{ mcp: { excluded: ['two'] } }, { mcp: { allowed: ['one'] } }, { disabledMcpServers: ['two'] }].entries()) {
    t.match(await add(`off-${at}`, JSON.stringify({ mcpServers, ...off })), { status: 0 })
    t.strictSame(JSON.parse(manifest(`off-${at}`)), { tools: [{ name: 'one', mcp: { command: 'one' } }, { name: 'two', mcp: { command: 'two', disabled: true } }] })
  }
})

t.test('what can\'t be taken is refused with what to write, and what is left is told', async t => {
  const { add } = project(t)
  t.match(await add('vars', JSON.stringify({ mcpServers: { a: { command: 'node', args: ['$' + '{workspaceFolder}/a.js'] } } })), { status: 1, stderr: /mcp\.args\[0\] holds a placeholder, which nobody replaces\. Write what it stands for/ })
  const written = { [`Bearer $${'{{ secrets.K_1 }}'}`]: '{"setting":"K_1","prefix":"Bearer "}', $MY_KEY: '{"setting":"MY_KEY"}', '{env:R_KEY}': '{"setting":"R_KEY"}', '<TOKEN>': '{"setting": "NAME"}' }
  for (const [at, [value, setting]] of Object.entries(written).entries()) {
    const { stderr } = await add(`header-${at}`, JSON.stringify({ mcpServers: { a: { url: 'https://a.example/mcp', headers: { 'X-Own': value } } } }))
    t.ok(stderr.includes('mcp.headers.X-Own holds a placeholder, which nobody replaces. ') && stderr.includes(`rite ${setting}`), stderr)
  }
  t.match(await add('own', '{"mcpServers":{"a":{"command":"a","env":{"A_TOKEN":"<YOUR_TOKEN>"}}}}'), { status: 1, stderr: /Write \{"setting":"A_TOKEN"\}, and put the value into/ })
  t.match(await add('keys', '{"mcpServers":{"a":{"command":"a","env_keys":["A"],"apiKey":"b"}}}'), { status: 0, stdout: /env_keys .*Write \{"setting": NAME\} into env[^]*apiKey .*Write headers with/ })
  t.match(await add('events', '{"mcpServers":{"a":{"type":"sse","url":"https://a.example/sse"}}}'), { status: 1, stderr: /mcp\.type .*\. \S+/ })
  t.match(await add('file', '{"servers":{"a":{"command":"a","envFile":"a.env"}}}'), { status: 0, stdout: /less: tools\.json: tools\[0\]\.mcp\.envFile is no known field and is ignored\. Write/ })
  t.match(await add('bundle', '{"manifest_version":"0.2","name":"x","server":{"type":"node","mcp_config":{"command":"node"}},"tools":[{"name":"t"}]}'), { status: 1, stderr: /is the manifest of an MCP bundle: install its server/ })
  t.match(await add('registry', '{"name":"io.x/y","packages":[{"registryType":"npm","identifier":"@x/y"}],"remotes":[]}'), { status: 1, stderr: /is an entry of the MCP registry: install/ })
})

t.test('a manifest is taken as it is written, digits included', async t => {
  const { add, manifest } = project(t)
  const text = (maximum: string): string => `{"tools": [{"name": "big", "command": ["/bin/true"], "schema": {"type": "object", "properties": {"id": {"type": "integer", "maximum": ${maximum}}}}}]}\n`
  t.match(await add('big', text('10.0')), { status: 0 })
  t.equal(manifest('big'), text('10.0'))
  t.match(await add('bigger', text('9007199254740993')), { status: 0, stdout: /less: tools\.json: .*9007199254740993 has more digits than are kept/ })
  t.equal(manifest('bigger'), text('9007199254740993'), 'it is not rounded on the way')
})

t.test('of an OpenAPI document it is told what was left out, what tools lack, and which variables they need', async t => {
  const { add, manifest } = project(t)
  const document = {
    openapi: '3.0.3',
    info: { title: 'Shop' },
    servers: [{ url: 'https://shop.example' }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    paths: {
      '/a': { get: { operationId: 'list', parameters: [{ name: 'seen', in: 'cookie', schema: {} }] } },
      '/b': { post: { operationId: 'photo', requestBody: { required: true, content: { 'multipart/form-data': {} } } } }
    }
  }
  const { status, stdout } = await add('shop', JSON.stringify(document))
  t.equal(status, 0)
  t.match(stdout, /left out: photo takes its body as multipart\/form-data/)
  t.match(stdout, /less: list: has the cookie parameter seen/)
  t.match(stdout, /workers need the variable SHOP_KEY: an API key/)
  t.match(JSON.parse(manifest('shop')), { namespace: 'Shop', tools: [{ name: 'list' }] })
  t.match(await add('relative', JSON.stringify({ ...document, servers: [{ url: '/v1' }] })), { status: 1, stderr: /names no server but \/v1: [\s\S]*toolyard import openapi FILE --server URL --out FILE/ })
})

t.test('skills in a hidden directory are found where there are no others; of two with one name it is said what to add', async t => {
  const { addFiles } = project(t)
  t.match(await addFiles('hidden', { '.claude/skills/pdf/SKILL.md': skill('pdf'), 'README.md': 'x' }), { status: 0, stdout: /skill pdf \(\.claude\/skills\/pdf\/SKILL\.md/ })
  t.match(await addFiles('both', { '.claude/skills/letters/SKILL.md': skill('letters'), 'skills/letters/SKILL.md': skill('letters') }), { status: 0, stdout: /skill letters \(skills\/letters/ })
  t.match(await addFiles('inner', { 'SKILL.md': skill('outer'), 'skills/inner/SKILL.md': skill('inner') }), { status: 0, stdout: /skill outer .*\n.*\n {4}has others among its files, which are no skills by themselves: skills\/inner\/SKILL\.md/ })
  t.match(await addFiles('twice', { 'a/x/SKILL.md': skill('x'), 'b/x/SKILL.md': skill('x') }), { status: 1, stderr: /Two skills of one name can't be told apart; nothing was added\. Add the directory of one of them/ })
})

t.test('the servers of Codex are read as it has them: TOML, with variables for headers', async t => {
  const { add, manifest } = project(t)
  const text = `model = "x"
approval_policy = "on-request"

[mcp_servers.files]
# A comment.
command = "npx"
args = ["-y", "files-server", '/data']
startup_timeout_sec = 20
tool_timeout_sec = 90
enabled_tools = ["read"]

[mcp_servers.files.env]
MODE = "plain"

[mcp_servers."issue tracker"]
url = "https://issues.example/mcp"
bearer_token_env_var = "ISSUES_TOKEN"

[profiles.deep]
model = "y"
`
  t.match(await add('codex', text), { status: 0, stdout: /MCP server files: npx -y files-server \/data;[^]*MCP server issue_tracker: https:\/\/issues\.example\/mcp[^]*ISSUES_TOKEN/ })
  t.strictSame(JSON.parse(manifest('codex')), {
    tools: [
      { name: 'files', mcp: { command: 'npx', args: ['-y', 'files-server', '/data'], startup_timeout_sec: 20, tool_timeout_sec: 90, enabled_tools: ['read'], env: { MODE: 'plain' } } },
      { name: 'issue_tracker', mcp: { url: 'https://issues.example/mcp', bearer_token_env_var: 'ISSUES_TOKEN' } }
    ]
  })
})

t.test('the servers of Goose are read as it has them; what is built into it is not served', async t => {
  const { add, manifest } = project(t)
  const text = `GOOSE_PROVIDER: some
extensions:
  tracker:
    name: Tracker
    cmd: npx
    args: [-y, tracker-server]
    enabled: true
    envs: { MODE: plain }
    available_tools: [read]
    type: stdio
  developer:
    enabled: true
    type: builtin
`
  t.match(await add('goose', text), { status: 0, stdout: /MCP server tracker: npx -y tracker-server;[^]*not served: .*"developer": mcp/ })
  t.match(JSON.parse(manifest('goose')), { tools: [{ name: 'tracker', mcp: { cmd: 'npx', available_tools: ['read'] } }, { name: 'developer' }] })
})

t.test('of TOML with a fault it is said where that is', async t => {
  const { add } = project(t)
  t.match(await add('codex', '[mcp_servers.files]\ncommand = files\n'), { status: 1, stderr: /seems to be TOML, and can't be read: Invalid TOML document: invalid value\n\n1: {2}\[mcp_servers\.files\]\n2: {2}command = files\n +\^/ })
  const { stderr, status } = await add('open', '[mcp_servers.files\ncommand = "files"\n')
  t.match([status, stderr], [1, /seems to be TOML, and can't be read: Invalid TOML document: [^]*\n1: {2}\[mcp_servers\.files\n +\^/], 'a table that does not end')
})
