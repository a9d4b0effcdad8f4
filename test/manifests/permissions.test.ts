import { join } from 'node:path'
import t from 'tap'
import type { PermissionPolicy } from '@toolyard/contract/terms'
import { loadRegistry, permissionRefusal } from '@toolyard/manifests'
import { entry, errors, load, loadTexts } from './fixture.ts'
import { project } from './project.ts'

t.test('P18 an agentcli tool may declare permissions; without them the list is undefined', async t => {
  const registry = await load(t, entry({ name: 'a', permissions: ['network', 'fly'] }), entry({ name: 'b', permissions: [] }), entry({ name: 'c' }))
  t.strictSame(registry.all().map(({ tool }) => tool.permissions), [['network'], [], undefined])
  t.match(registry.findings, [{ severity: 'warning', rule: 'P18', index: 0, tool: 'a', message: 'tool[0] "a": "fly" is no known permission and is ignored' }])
  for (const permissions of ['network', [1], {}]) t.match(errors(await load(t, entry({ permissions }))), [{ rule: 'AC10', message: /^parse manifest: tools\[0\]\.permissions/ }])
})

t.test('network names hosts in one spelling, true is the permission, and what is neither takes away its entry alone', async t => {
  const registry = await load(t, entry({ name: 'a', permissions: [], network: ['B.test.', 'a.test:8080'] }), entry({ name: 'b', permissions: ['read_repo'], network: true }), entry({ name: 'c', network: [] }))
  t.strictSame(registry.all().map(({ tool }) => [tool.permissions, tool.network]), [[[], ['a.test:8080', 'b.test']], [['read_repo', 'network'], undefined], [undefined, []]])
  const faulty = { 'is no host': ['https://a.test'], 'reaches every host': ['a.test'], 'must be a list of hosts': 'a.test' }
  for (const [says, network] of Object.entries(faulty)) {
    const other = await load(t, entry({ name: 'a', permissions: ['network'].slice(says === 'is no host' ? 1 : 0, says === 'reaches every host' ? 1 : 0), network }), entry({ name: 'b' }))
    t.strictSame(other.all().map(({ tool }) => tool.name), ['b'])
    t.match(errors(other), [{ rule: 'egress/list', index: 0, tool: 'a', message: new RegExp(says) }])
  }
})

t.test('unixSockets of a command and of an MCP server is taken, and beside the permission network it takes away the entry', async t => {
  const registry = await load(t, entry({ name: 'a', permissions: [], unixSockets: true, network: ['a.test'] }), { name: 's', mcp: { command: 'server' }, unixSockets: true })
  t.strictSame(registry.all().map(({ tool }) => tool.unixSockets), [true])
  t.match(registry.servers(), [{ name: 's', unixSockets: true }])
  const refused = await load(t, entry({ name: 'a', permissions: ['network'], unixSockets: true }), { name: 's', mcp: { command: 'server' }, permissions: ['network'], unixSockets: true }, entry({ name: 'b' }))
  t.strictSame(refused.all().map(({ tool }) => tool.name), ['b'])
  t.same(errors(refused).map(({ rule, index }) => [rule, index]), [['egress/list', 0], ['egress/list', 1]])
})

t.test('a secret with hosts goes into headers, its hosts are in network, and what is wrong takes away its entry alone', async t => {
  const listed = (use: object): Record<string, unknown> => entry({ name: 'a', permissions: [], network: ['api.test', '*.b.test'], secrets: { TOKEN: use } })
  const registry = await load(t, listed({ secret: 'api', hosts: ['API.test:443', 'x.b.test'] }), { ...listed({ secret: 'api', as: 'env' }), name: 'b' })
  t.strictSame(registry.all().map(({ tool }) => tool.secrets?.['TOKEN']), [{ secret: 'api', as: 'header', hosts: ['api.test:443', 'x.b.test'] }, { secret: 'api', as: 'env' }])
  const faulty: Array<[use: object, path: Array<string | number>, says: RegExp]> = [
    [{ secret: 'api' }, [], /must name hosts, whose requests carry it, or say "as": "env" or "file"/],
    [{ secret: 'api', as: 'header' }, ['hosts'], /must be a list of 1 to 16 hosts/],
    [{ secret: 'api', as: 'env', hosts: ['api.test'] }, ['hosts'], /is for "as": "header"/],
    [{ secret: 'api', hosts: ['api.test', 'c.test'] }, ['hosts', 1], /hosts\[1\] is c\.test, which "network" of the tool does not have/],
    [{ secret: 'api', hosts: ['*'] }, ['hosts', 0], /is no host: "\*"/],
    [{ secret: 'api', hosts: ['api.test'], host: 'x' }, ['host'], /is no known field/],
    ...['.', '..', 'a/b', ''].map((secret): [object, string[], RegExp] => [{ secret, as: 'env' }, [], /: secrets\.TOKEN names no secret$/])
  ]
  for (const [use, path, message] of faulty) {
    const other = await load(t, listed(use), entry({ name: 'b' }))
    t.strictSame(other.all().map(({ tool }) => tool.name), ['b'])
    t.match(errors(other), [{ rule: 'secrets/use', index: 0, tool: 'a', path: ['tools', 0, 'secrets', 'TOKEN', ...path], message }])
  }
  t.match(errors(await load(t, entry({ permissions: ['network'], secrets: { TOKEN: { secret: 'api', hosts: ['api.test'] } } }))), [{ message: /"network" is no list/ }])
})

t.test('EGRESS_ALLOWED bounds lists, and refuses tools that reach every host; a list needs the permission of the deployment', async t => {
  const registry = await load(t, entry({ name: 'listed', permissions: [], network: ['a.test'] }), entry({ name: 'other', permissions: [], network: ['b.test'] }), entry({ name: 'all', permissions: ['network'] }))
  const refused = (permissions: PermissionPolicy): Array<string | undefined> =>
    registry.all().map(({ tool }) => permissionRefusal(tool, {}, { permissions })?.message)
  t.match(refused({ allowed: ['network'], defaults: [], egress: ['a.test'] }), [undefined, /reaches hosts that are not allowed: b\.test/, /not allowed: \*/])
  t.match(refused({ allowed: [], defaults: [], egress: ['*'] }), [/needs permissions that are not allowed: network/, /network/, /network/])
})

t.test('P18 X21 a tool of a skill may declare permissions, and an unknown one rejects the file', async t => {
  const skill = (permissions: unknown) => ({
    tools: [{ name: 'probe', permissions }], allowlist: { sh: ['x'] }, execution: [{ tool: 'probe', binary: 'sh', subcommand: 'x' }]
  })
  const directory = project(t, { 'good/SKILL.md': '# Good', 'good/tools.json': skill(['network']), 'bad/SKILL.md': '# Bad', 'bad/tools.json': skill(['fly']) })
  const registry = await loadRegistry({ manifests: ['good', 'bad'].map(name => join(directory, name)), builtins: false })
  t.strictSame(registry.all().map(({ tool }) => tool.permissions), [['network']])
  t.match(errors(registry), [{ rule: 'SC1', message: 'tools[0].permissions[0]: expected one of `read_repo`, `write_files`, `network`' }])
})

t.test('X21 the warning for an entry without its list, or for a list of servers of another program, says what to write', async t => {
  const top = async (manifest: object): Promise<unknown> => (await loadTexts(t, [JSON.stringify(manifest)])).registry.findings.filter(({ rule }) => rule === 'X21').map(({ path, fix }) => [path?.join('.'), fix])
  const inList = 'Write it into an entry of the list tools: {"tools": [{...}]}.'
  t.strictSame(await top({ name: 'probe', description: 'Probes.', schema: {}, command: ['/bin/true'] }), ['name', 'description', 'schema', 'command'].map(name => [name, inList]))
  for (const name of ['mcpServers', 'servers', 'context_servers']) t.match(await top({ [name]: {} }), [[name, /"mcp": {...}} for each server, and run toolyard accept; or take the file in by toolyard add/]])
})

t.test('X21 AC10 unknown fields of commands are a warning with the nearest known name; names match in any case', async t => {
  const { registry } = await loadTexts(t, [JSON.stringify({
    tols: [],
    sandbox: false,
    $schema: './x.json',
    tools: [entry({ timeout_sec: 5, env: ['TZ'], version: 2, DESCRIPTION: 'Known.', TimeoutSec: 3, sandbox: false, permission: ['network'], perm: [], 'x-own': 1, Limits: { memory: 1, cpusec: 5, 'x-a': 1 } })]
  })])
  const at = (...path: Array<string | number>): Array<string | number> => ['tools', 0, ...path]
  t.match(registry.findings, [
    { path: ['tols'], fix: 'Write tools.' },
    { path: ['sandbox'], message: 'sandbox is no known field and is ignored', fix: 'Write permissions into each tool (the sandbox itself is the setting SANDBOX).' },
    { path: at('timeout_sec'), fix: 'Write timeoutSec.' },
    { path: at('env'), fix: 'Write the names into envPassthrough: the values are in the environment of the workers.' },
    { path: at('version'), fix: /^Remove it, or put x- in front of its name; known here are name, description, schema, .*permissions/ },
    { path: at('sandbox'), message: 'tools[0].sandbox is no known field and is ignored', fix: 'Write permissions (the sandbox itself is the setting SANDBOX).' },
    { path: at('permission'), fix: 'Write permissions.' },
    { path: at('perm'), fix: 'Write permissions.' },
    { path: at('Limits', 'memory'), message: 'tools[0].Limits.memory is no known field and is ignored', fix: 'Write memoryBytes.' }
  ])
  t.ok(registry.findings.every(({ severity, rule }) => severity === 'warning' && rule === 'X21'))
  t.equal(registry.findings.length, 9)
  t.match(registry.get('probe')?.tool, { description: 'Known.', timeoutSec: 3, limits: { cpuSec: 5 } })
})
