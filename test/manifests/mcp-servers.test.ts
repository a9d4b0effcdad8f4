import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import type { McpTool } from '@toolyard/contract/terms'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { changeLock, loadRegistry, nameFilter, validateManifests, type Registry } from '@toolyard/manifests'
import { entry, errors, loadTexts, names } from './fixture.ts'

type Fields = Record<string, unknown>
const server = (fields: Fields = {}, mcp: Fields = { command: 'files-server' }): Fields => ({ name: 'files', mcp, ...fields })
const tool = (name: string, fields: Partial<McpTool> = {}): McpTool => ({ name, description: `It does ${name}.`, inputSchema: { type: 'object', properties: {} }, ...fields })

/** Loads a manifest of these entries, with what was accepted of the server `files`. */
async function loadAccepted (
  t: Test, entries: ReadonlyArray<Record<string, unknown>>, accepted?: readonly McpTool[] | string
): Promise<{ registry: Registry, file: string }> {
  const { files: [file = ''] } = await loadTexts(t, [JSON.stringify({ tools: entries })])
  const lock = join(dirname(file), 'tools.lock.json')
  if (typeof accepted === 'string') writeFileSync(lock, accepted)
  else if (accepted !== undefined) await changeLock(file, () => new Map([['files', accepted]]))
  return { registry: await loadRegistry({ manifests: [file], builtins: false }), file }
}

t.test('accepted tools of an MCP server are published under its prefix, in the place of its entry', async t => {
  const { registry } = await loadAccepted(t, [entry({ name: 'before' }), server({ timeoutSec: 5, permissions: ['read_repo'] }), entry({ name: 'after' })], [tool('read'), tool('write')])
  t.strictSame(names(registry), ['before', 'files_read', 'files_write', 'after'])
  t.match(registry.get('files_read')?.tool, { description: 'It does read.', timeoutSec: 5, permissions: ['read_repo'], jobType: 'mcp.files_read', run: { kind: 'mcp', remote: 'read', digest: mcpDigest(tool('read')) } })
  t.strictSame(errors(registry), [])
  t.match(registry.servers(), [{ name: 'files', connection: { kind: 'stdio', program: 'files-server', args: [], env: {} } }])
})

t.test('an MCP server whose tools were never accepted publishes nothing, and the finding names the command', async t => {
  const { registry, file } = await loadAccepted(t, [server(), entry()])
  t.strictSame(names(registry), ['probe'])
  t.match(registry.findings, [{ severity: 'warning', rule: 'mcp/accepted', index: 0, tool: 'files', message: 'tool[0] "files": no tool of this MCP server was accepted, so that none is published', fix: `Run toolyard accept "${file}", and look at what it shows.` }])
  t.match((await validateManifests([file])).ok, false, 'an error to validate')
  t.ok(registry.files.includes(join(dirname(file), 'tools.lock.json')), 'the file of accepted tools is watched before it is there')
})

t.test('a file of accepted tools that is broken publishes nothing, and the rest of the manifest is served', async t => {
  for (const [text, says] of [['{', /is not JSON/], ['[]', /is not a list of accepted tools/], ['{"version":2,"servers":{}}', /of this version/], ['{"version":1,"servers":{"files":{"tools":[{"name":"a"}]}}}', /something else than tools/], ['{"version":1,"servers":{"files":1}}', /something else than tools/]] as const) {
    const { registry } = await loadAccepted(t, [server(), entry()], text)
    t.strictSame(names(registry), ['probe'], text)
    t.match(errors(registry), [{ rule: 'mcp/accepted', message: says }], text)
  }
})

t.test('an accepted tool whose schema can\'t be used is left out, and no other; an enum without values is left to the server', async t => {
  const withProperty = (name: string, a: object) => tool(name, { inputSchema: { type: 'object', properties: { a } } })
  const { registry } = await loadAccepted(t, [server()], [withProperty('bad', { pattern: '(' }), withProperty('good', { type: 'string', enum: [] })])
  t.strictSame([names(registry), registry.get('files_good')?.tool.parameters], [['files_good'], { type: 'object', properties: { a: { type: 'string' } } }])
  t.match(errors(registry), [{ rule: 'A6', message: /schema of its tool "bad"/ }])
})

t.test('names that models can not take become names that they can, the same ones whatever the order of the list', async t => {
  const long = 'x'.repeat(70)
  const tools = ['a/b', 'a.b', 'a_b', 'ns:get', long].map(name => tool(name))
  const wanted = { files_a_b: 'a_b', files_a_b_2: 'a.b', files_a_b_3: 'a/b', files_ns_get: 'ns:get', [`files_${'x'.repeat(58)}`]: long }
  for (const accepted of [tools, [...tools].reverse()]) {
    const { registry } = await loadAccepted(t, [server()], accepted)
    const remotes = registry.published().map(({ tool: { name, run } }) => [name, run.kind === 'mcp' ? run.remote : undefined])
    t.strictSame(Object.fromEntries(remotes), wanted)
  }
})

t.test("of defaults of an MCP server's tool models read all, those of required arguments alone are filled in, and those that don't fit are told", async t => {
  const inputSchema = { type: 'object' as const, properties: { output: { type: 'string', default: 'wide' }, limit: { default: 10 } }, required: ['limit'] }
  const unfit = tool('read', { inputSchema: { type: 'object', properties: { path: { type: 'string', default: null } } } })
  const { registry } = await loadAccepted(t, [server()], [tool('list', { inputSchema }), unfit])
  t.strictSame(names(registry), ['files_list', 'files_read'])
  t.match(registry.get('files_list')?.tool.parameters, inputSchema)
  t.strictSame(await registry.get('files_list')?.check({}), { ok: true, arguments: { limit: 10 } })
  t.match(registry.findings, [{ severity: 'note', rule: 'A6', message: /its tool "read": the default of "path" does not fit it: it is not filled in/ }])
})

t.test('an entry of mcpServers elsewhere can be pasted: command, args and env, or url and headers', async t => {
  const pasted = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'], env: { LOG_LEVEL: 'debug', TOKEN: { setting: 'FILES_TOKEN' } } }
  const { registry } = await loadAccepted(t, [server({}, pasted), server({ name: 'far' }, { type: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: { setting: 'FAR_TOKEN', prefix: 'Bearer ' } } })])
  t.match(registry.servers(), [
    { connection: { kind: 'stdio', program: 'npx', args: pasted.args, env: pasted.env } },
    { name: 'far', prefix: 'far_', permissions: ['network'], connection: { kind: 'http', url: 'https://mcp.example.com/mcp', headers: { Authorization: { setting: 'FAR_TOKEN', prefix: 'Bearer ' } } } }
  ])
  t.strictSame(errors(registry), [])
})

t.test('./tools/ in a command means the directory beside the manifest', async t => {
  const { registry, file } = await loadAccepted(t, [server({}, { command: ['./tools/server'], args: ['./tools/data', './other'] })])
  t.match(registry.servers(), [{ connection: { program: join(dirname(file), 'tools/server'), args: [join(dirname(file), 'tools/data'), './other'] } }])
})

t.test('a wrong entry of an MCP server is an error with its place, and affects no other entry', async t => {
  const wrong: Array<[entry: Record<string, unknown>, says: RegExp]> = [
    [server({}, {}), /mcp must have either command or url/],
    [server({}, { command: 'a', url: 'https://a.example' }), /mcp must have either command or url/],
    [server({}, { command: 'a', type: 'http' }), /mcp.type http doesn't fit command/],
    [server({}, { type: 'sse', url: 'https://a.example' }), /^tool\[0\] "files": mcp.type must be one of stdio, http, streamable-http$/],
    [server({}, { command: 'npx -y thing' }), /white space: no shell reads it/],
    [server({}, { command: './server' }), /must be a name on the PATH/],
    [server({}, { command: './tools/../../server' }), /leads out of tools/],
    [server({}, { command: 7 }), /mcp.command/],
    [server({}, { url: 'ftp://a.example' }), /must begin with https/],
    [server({}, { url: 'https://user:word@a.example' }), /user name or password/],
    [server({}, { url: 'nowhere' }), /is no URL/],
    [server({}, { url: 'https://a.example', args: ['x'] }), /are for servers with a command/],
    [server({}, { command: 'a', headers: { A: 'b' } }), /are for servers with a url/],
    [server({}, { url: 'https://a.example', headers: { Host: 'b' } }), /header that the protocol sets/],
    [server({}, { url: 'https://a.example', headers: { 'a b': 'c' } }), /a name that can't be sent/],
    [server({}, { url: 'https://a.example', headers: { A: 'b\nc' } }), /line break/],
    [server({ name: 'a b' }), /name/],
    [server({ tools: 'read' }), /tools/],
    [server({ timeoutSec: 1.5 }), /timeoutSec/],
    [server({ limits: { cpuSec: 0 } }), /limits.cpuSec/],
    [{ mcp: { command: 'a' } }, /name is missing/]
  ]
  for (const [bad, says] of wrong) {
    const { registry } = await loadAccepted(t, [bad, entry()])
    t.strictSame(names(registry), ['probe'], JSON.stringify(bad))
    t.match(errors(registry), [{ index: 0, message: says, rule: 'mcp/server' }].map(each => /header|sent|break/.test(String(says)) ? { ...each, rule: 'mcp/secret' } : each), JSON.stringify(bad))
    t.strictSame(registry.servers(), [])
  }
  const twice = await loadAccepted(t, [server(), server()])
  t.match(errors(twice.registry), [{ index: 1, message: /another MCP server of this manifest has this name/ }])
})

t.test('a secret in an entry of an MCP server is refused: it comes from a setting, and not from one of the service', async t => {
  const cases: Array<[mcp: Record<string, unknown>, says: RegExp]> = [
    [{ command: 'a', env: { GITHUB_TOKEN: 'ghp_1' } }, /env.GITHUB_TOKEN looks like a secret/],
    [{ command: 'a', env: { OPENAI_API_KEY: 'sk' } }, /looks like a secret/],
    [{ command: 'a', env: { HOST: '$' + '{env:HOST}' } }, /a placeholder, which nobody replaces/],
    [{ command: 'a', env: { KEY: { setting: 'API_KEY' } } }, /a secret of the service/],
    [{ url: 'https://a.example', headers: { authorization: 'Bearer x' } }, /looks like a secret/],
    [{ url: 'https://a.example', headers: { 'X-Api-Key': 'x' } }, /looks like a secret/]
  ]
  for (const [mcp, says] of cases) {
    const { registry } = await loadAccepted(t, [server({}, mcp)])
    t.match(errors(registry), [{ rule: 'mcp/secret', message: says }], JSON.stringify(mcp))
    t.notMatch(JSON.stringify(registry.findings), /ghp_1|Bearer x/, 'the finding does not repeat it')
  }
})

t.test('unknown fields of an entry are reported, also those that other programs know', async t => {
  const { registry } = await loadAccepted(t, [server({ timeout: 5 }, { command: 'a', cwd: '/tmp', alwaysAllow: [] })], [])
  t.match(registry.findings, [{ rule: 'X21', fix: 'Write timeoutSec.' }, { rule: 'X21', fix: /servers run in the workspace/ }, { rule: 'X21', fix: /toolyard accept/ }])
})

t.test('in the filter by name the last matching pattern decides', async t => {
  const cases: Array<[patterns: string[], lets: string[], stops: string[]]> = [
    [[], ['a', ''], []],
    [['read_*'], ['read_', 'read_a'], ['read', 'write_a']],
    [['!write_*'], ['read'], ['write_a']],
    [['*', '!write_*', 'write_log'], ['a', 'write_log'], ['write_a']],
    [['a*b*c'], ['abc', 'a1b2c'], ['ab', 'acb', 'aabb']],
    [['a*a'], ['aa', 'aba'], ['a']],
    [['read'], ['read'], ['reads', 'Read']]
  ]
  for (const [patterns, lets, stops] of cases) {
    const filter = nameFilter(patterns)
    for (const name of lets) t.equal(filter(name), true, `${patterns.join()} lets through ${name}`)
    for (const name of stops) t.equal(filter(name), false, `${patterns.join()} stops ${name}`)
  }
})

t.test('the filter by name agrees with a regular expression for any patterns', async t => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '_'), maxLength: 6 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '_', '*'), maxLength: 6 })
  const escaped = (text: string): RegExp => new RegExp(`^${text.split('*').map(part => part.replace(/[.]/g, '\\.')).join('.*')}$`)
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), pattern), { maxLength: 4 }), letters, async (rules, name) => {
    const last = rules.findLast(([, each]) => escaped(each).test(name))
    const wanted = last?.[0] ?? rules.every(([lets]) => !lets)
    return nameFilter(rules.map(([lets, each]) => lets ? each : `!${each}`))(name) === wanted
  }), { numRuns: 1_000 }))
})

t.test('a digest depends only on what models and calls see of a tool', async t => {
  const base = tool('a', { inputSchema: { type: 'object', properties: { x: { type: 'string' }, y: {} } } })
  const digest = mcpDigest(base)
  t.equal(mcpDigest({ ...base, inputSchema: { properties: { y: {}, x: { type: 'string' } }, type: 'object' } }), digest, 'the order of keys')
  t.equal(mcpDigest({ ...base, icons: [] } as McpTool), digest, 'fields that are not used')
  for (const changed of [{ name: 'b' }, { description: 'Other.' }, { title: 'T' }, { inputSchema: { type: 'object' } }, { outputSchema: { type: 'object' } }, { annotations: { readOnlyHint: true } }]) t.not(mcpDigest({ ...base, ...changed }), digest, JSON.stringify(changed))
})

t.test('what other programs write for a server is taken where it means something here', async t => {
  const accepted = [tool('read'), tool('write'), tool('drop')]
  const served = async (mcp: Fields, fields: Fields = {}): Promise<string[]> => {
    const { registry } = await loadAccepted(t, [server(fields, mcp)], accepted)
    t.strictSame(registry.findings.filter(({ rule }) => rule === 'X21' || rule.startsWith('mcp/')), [], JSON.stringify(mcp))
    return registry.published().map(({ tool }) => tool.name)
  }
  for (const name of ['disabledTools', 'excludeTools', 'disabled_tools']) t.strictSame(await served({ command: 'a', [name]: ['drop'] }), ['files_read', 'files_write'], name)
  for (const name of ['includeTools', 'enabled_tools', 'allowedTools', 'tools']) t.strictSame(await served({ command: 'a', [name]: ['read', 'write(path)'] }), ['files_read', 'files_write'], name)
  t.strictSame(await served({ command: 'a', includeTools: ['read', 'drop'], excludeTools: ['drop'] }), ['files_read'])
  t.strictSame(await served({ command: 'a', tools: ['*'] }), ['files_read', 'files_write', 'files_drop'])
  t.match((await loadAccepted(t, [server({}, { command: 'a', tools: [] })], accepted)).registry.findings, [{ severity: 'warning', rule: 'X21', path: ['tools', 0, 'mcp', 'tools'] }], 'none at all')
  t.strictSame(await served({ command: 'a', disabledTools: ['read'] }, { tools: ['read', 'write'] }), ['files_write'])
  for (const mcp of [
    { type: 'streamableHttp', url: 'https://a.example/mcp' }, { httpUrl: 'https://a.example/mcp' }, { serverUrl: 'https://a.example/mcp' }, { transport: 'streamable_http', url: 'https://a.example/mcp' },
    { type: 'remote', url: 'https://a.example/mcp', enabled: true }, { type: 'local', command: ['a', 'b'], environment: { HOST: 'x' } }, { source: 'custom', command: 'a', args: [] },
    { command: { path: 'a', args: ['b'], env: {} } }, { transport: { type: 'stdio', command: 'a', args: ['b'] } }, { url: 'https://a.example/mcp', requestInit: { headers: { 'x-version': '1' } } },
    { url: 'https://a.example/mcp', bearer_token_env_var: 'FILES_TOKEN', tool_timeout_sec: 20, env_http_headers: { 'x-team': 'TEAM' } }, { command: 'a', disabled: false }
  ]) t.strictSame(await served(mcp), ['files_read', 'files_write', 'files_drop'], JSON.stringify(mcp))
  const { registry } = await loadAccepted(t, [server({}, { url: 'https://a.example/mcp', bearer_token_env_var: 'FILES_TOKEN', tool_timeout_sec: 20 })], accepted)
  t.match(registry.get('files_read')?.tool, { timeoutSec: 20, run: { server: { connection: { headers: { Authorization: { setting: 'FILES_TOKEN', prefix: 'Bearer ' } } } } } })
})

t.test('a server that is switched off, in whatever words, serves nothing and is asked nothing', async t => {
  const inside = [{ disabled: true }, { enabled: false }, { isActive: false }].map(mcp => [{}, mcp])
  for (const [fields, mcp] of [...inside, [{ disabled: true }, {}], [{ enabled: false }, {}]]) {
    const { registry } = await loadAccepted(t, [server(fields, { command: 'a', ...mcp })], [tool('read')])
    t.strictSame(registry.published(), [], JSON.stringify([fields, mcp]))
    t.strictSame(registry.servers().map(({ off }) => off), [true])
    t.strictSame((await loadAccepted(t, [server(fields, { command: 'a', ...mcp })])).registry.findings.filter(({ rule }) => rule === 'mcp/accepted'), [])
  }
})

t.test('what has no meaning here is named with what to write instead', async t => {
  for (const [field, fix] of [
    ['alwaysAllow', /toolyard accept/], ['autoApprove', /toolyard accept/], ['trust', /toolyard accept/], ['timeout', /timeoutSec beside mcp, in seconds/], ['envFile', /"setting": NAME/],
    ['oauth', /Bearer/], ['startup_timeout_sec', /nothing/], ['cwd', /workspace/], ['anythingElse', /Remove it/]
  ] as const) {
    const { registry } = await loadAccepted(t, [server({}, { command: 'a', [field]: [] })], [])
    t.match(registry.findings, [{ rule: 'X21', message: new RegExp(`mcp.${field} is no known field`), fix }], field)
  }
  for (const type of ['sse', 'ws']) t.match(errors((await loadAccepted(t, [server({}, { type, url: 'https://a.example/sse' })])).registry), [{ message: /must be one of/, fix: /streamable HTTP/ }])
})

t.test('a secret in an address, or among arguments, is refused with the way to give it by a setting', async t => {
  for (const mcp of [
    { url: 'https://a.example/mcp?api_key=sk-1234567890abcdef' }, { url: 'https://a.example/mcp?key=0123456789abcdef0123456789abcdef' }, { url: 'https://a.example/mcp?apiKey=abc' }, { url: 'https://a.example/mcp?token=a-long-token-of-somebody' },
    { url: 'https://a.example/sk-1234567890abcdefgh/mcp' }, { url: 'https://a.example/mcp?x=ghp_abcdefghijklmnopqrstuv' }, { url: 'https://a.example/mcp?key=$' + '{KEY}' },
    { url: 'https://bob:sk-1234567890abcdef@a.example/mcp' }, { url: { setting: 'API_KEY' } }, { url: { setting: 'X', prefix: 'https://a.example/?api_key=sk-1234567890abcdef&b=' } },
    { command: 'a', args: ['--key', 'sk-1234567890abcdef'] }, { command: 'a', args: ['--key=$' + '{input:key}'] }, { command: 'a', env: { OTHER: 'ghp_abcdefghijklmnopqrstuv' } }
  ]) {
    const { registry } = await loadAccepted(t, [server({}, mcp)])
    t.match(errors(registry), [{ rule: /mcp\/(?:secret|server)/, fix: /setting|another name/ }], JSON.stringify(mcp))
    t.notMatch(JSON.stringify(registry.findings), /sk-123|ghp_abc|a-long-token/)
  }
  for (const url of [{ setting: 'FILES_URL' }, { setting: 'FILES_KEY', prefix: 'https://a.example/mcp?api_key=' }, 'https://a.example/mcp?profile=work']) {
    t.strictSame(errors((await loadAccepted(t, [server({}, { url })], [tool('read')])).registry), [], JSON.stringify(url))
  }
})

t.test('a placeholder of another program is refused with the setting that takes its place', async t => {
  for (const [text, fix] of [
    ['$' + '{TEAM}', 'Write {"setting":"TEAM"}, and put'], ['$' + '{env:TEAM}', '{"setting":"TEAM"}'], ['$' + '{input:team-id}', '{"setting":"TEAM_ID"}'], ['Bearer $' + '{TEAM}', '{"setting":"TEAM","prefix":"Bearer "}'], ['$' + '{TEAM:-none}', '{"setting":"TEAM"}'], ['<YOUR_TEAM>', '{"setting": "NAME"}']
  ] as const) t.match(errors((await loadAccepted(t, [server({}, { url: 'https://a.example/mcp', headers: { 'x-team': text } })])).registry), [{ rule: 'mcp/secret', message: /a placeholder, which nobody replaces/, fix }])
  for (const mcp of [{ command: 'a', args: ['-s', '<your_app_secret>'] }, { url: 'https://a.example/{organization}' }, { url: 'https://a.example/<team>/mcp' }]) {
    t.match(errors((await loadAccepted(t, [server({}, mcp)])).registry), [{ rule: 'mcp/secret', message: /a placeholder, which nobody replaces/ }], JSON.stringify(mcp))
  }
})
