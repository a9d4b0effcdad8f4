import { join } from 'node:path'
import t from 'tap'
import { changeLock, loadRegistry } from '@toolyard/manifests'
import { entry, errors, loadLayers, loadTexts, names } from './fixture.ts'

t.test('X13 a later layer replaces a tool as a whole, in its place, with a warning', async t => {
  const registry = await loadLayers(t, [
    [entry({ name: 'a', description: 'first', timeoutSec: 5 }), entry({ name: 'b' })],
    [entry({ name: 'c' }), entry({ name: 'a', command: ['/bin/false'] })]
  ])
  t.strictSame(names(registry), ['a', 'b', 'c'])
  const tool = registry.get('a')?.tool
  t.match(tool, { description: '', run: { program: '/bin/false' }, source: { index: 1 } })
  t.notOk('timeoutSec' in (tool ?? {}), 'fields are not merged')
  t.match(registry.findings, [{ severity: 'warning', rule: 'X13', index: 1, tool: 'a', message: /^tool\[1\] "a": replaces the one of .*layer-0\/tools\.json$/ }])
})

t.test('A32 a tool of an MCP server takes the place of no other tool of its manifest, whichever stands first', async t => {
  const own = entry({ name: 'probe' })
  const server = (name: string, prefix: string): object => ({ name, prefix, mcp: { command: 'files-server' } })
  const accepted = ['probe', 'other'].map(name => ({ name, inputSchema: { type: 'object' as const } }))
  const loaded = async (...tools: object[]): Promise<Awaited<ReturnType<typeof loadRegistry>>> => {
    const { files: [file = ''] } = await loadTexts(t, [JSON.stringify({ tools })])
    await changeLock(file, () => new Map([['one', accepted], ['two', accepted]]))
    return await loadRegistry({ manifests: [file], builtins: false })
  }
  const behind = await loaded(own, server('one', ''))
  t.match([behind.get('probe')?.tool.run.kind, behind.get('other')?.tool.run.kind], ['command', 'mcp'])
  t.match(errors(behind), [{ rule: 'A32', tool: 'probe', message: 'tool[1] "probe": is the name of another tool of this manifest, which stays' }])
  t.equal((await loaded(server('one', ''), own)).get('probe')?.tool.run.kind, 'command')
  t.match((await loaded(server('one', 'files_'), server('two', 'files_'))).get('files_probe')?.tool.run, { kind: 'mcp', server: { name: 'one' } })
})

t.test('X13 built-in tools come first and stay when an entry has their name', async t => {
  const registry = await loadLayers(t, [[entry({ name: 'data_file_read' }), entry({ name: 'b' })]], true)
  t.strictSame(names(registry).slice(0, 2), ['data_file_read', 'tools_file_search'])
  t.equal(names(registry).at(-1), 'b')
  t.equal(registry.get('data_file_read')?.tool.run.kind, 'builtin')
  t.match(errors(registry), [{ rule: 'X13', index: 0, tool: 'data_file_read', message: 'tool[0] "data_file_read": is the name of a built-in tool, which stays' }])
})

t.test('X13 an entry with override replaces a built-in tool', async t => {
  const registry = await loadLayers(t, [[entry({ name: 'data_file_read', override: true })], [entry({ name: 'data_file_read' })]], true)
  t.match(registry.get('data_file_read')?.tool, { jobType: 'agentcli.data_file_read', run: { kind: 'command' }, source: { file: /layer-0/ } })
  t.match(registry.findings, [
    { severity: 'warning', message: 'tool[0] "data_file_read": replaces the built-in tool' },
    { severity: 'error', message: /is the name of a built-in tool/ }
  ], 'each layer must say so itself')
})

t.test('X14 X22 a layer disables a tool: it is known, but not published', async t => {
  for (const off of [{ enabled: false }, { disabled: true }, { enabled: true, disabled: true }]) {
    const registry = await loadLayers(t, [[entry({ name: 'a', description: 'kept' }), entry({ name: 'b' })], [{ name: 'a', ...off }]])
    t.strictSame(registry.published().map(({ tool }) => tool.name), ['b'])
    t.match(registry.get('a')?.tool, { enabled: false, description: 'kept', jobType: 'agentcli.a' })
    t.strictSame(registry.findings, [])
  }
})

t.test('X14 a later layer enables it again', async t => {
  for (const on of [{ enabled: true }, { disabled: false }]) {
    const registry = await loadLayers(t, [[entry({ name: 'a' })], [{ name: 'a', enabled: false }], [{ name: 'a', ...on }]])
    t.equal(registry.published().length, 1)
  }
})

t.test('X14 a tool can be declared disabled, and a later declaration is enabled', async t => {
  const registry = await loadLayers(t, [[entry({ name: 'a', enabled: false }), entry({ name: 'b', enabled: false })], [entry({ name: 'b' })]])
  t.strictSame(registry.published().map(({ tool }) => tool.name), ['b'])
})

t.test('X14 a built-in tool is disabled like any other', async t => {
  const registry = await loadLayers(t, [[{ name: 'tools_file_search', enabled: false }]], true)
  const published = registry.published().map(({ tool }) => tool.name)
  t.ok(published.includes('data_file_read'))
  t.notOk(published.includes('tools_file_search'))
  t.strictSame(registry.findings, [])
})

t.test('X14 switching a tool that no manifest declares is a warning', async t => {
  const registry = await loadLayers(t, [[{ name: 'a', enabled: false }], [entry({ name: 'a' })]])
  t.match(registry.findings, [{ severity: 'warning', rule: 'X14', index: 0, tool: 'a' }])
  t.equal(registry.published().length, 1, 'a switch looks back, not ahead')
})

t.test('X14 A32 a switch and a declaration of one name in one file are duplicates', async t => {
  const registry = await loadLayers(t, [[entry({ name: 'a' }), { name: 'a', enabled: false }]])
  t.match(errors(registry), [{ rule: 'A32', index: 1 }])
})

t.test('X16 a broken layer is skipped as a whole, and earlier and later ones serve', async t => {
  const registry = await loadLayers(t, [
    [entry({ name: 'a', description: 'works' })],
    [entry({ name: 'a' }), entry({ name: 'b' }), entry({ name: 'c', command: ['echo'] })],
    [entry({ name: 'd' })]
  ], true)
  t.strictSame(names(registry).slice(-2), ['a', 'd'])
  t.equal(registry.get('a')?.tool.description, 'works')
  t.match(registry.findings, [{ severity: 'error', rule: 'A34', index: 2, tool: 'c', file: /layer-1/ }])
})

t.test('a directory as manifest means the tools.json in it', async t => {
  const directory = t.testdir({ 'tools.json': JSON.stringify({ tools: [entry()] }) })
  const registry = await loadRegistry({ manifests: [directory], builtins: false })
  t.match(registry.all().map(({ tool }) => tool.source), [{ file: join(directory, 'tools.json') }])
})

t.test('S1 S4 a skill, its tools.json, and a directory of skills are recognized', async t => {
  const directory = t.testdir({ notes: { 'SKILL.md': '# Notes', 'tools.json': '{"tools":[],"allowlist":{},"execution":[]}' } })
  for (const path of [directory, join(directory, 'notes'), join(directory, 'notes/tools.json')]) {
    const registry = await loadRegistry({ manifests: [path], builtins: false })
    t.match(registry.skills(), [{ name: 'notes', file: join(directory, 'notes/SKILL.md') }], path)
    t.strictSame(registry.findings, [], path)
  }
})

t.test('S1 the tools.json of a skill without a SKILL.md is reported', async t => {
  const directory = t.testdir({ 'tools.json': '{"tools":[{"name":"x","parameters":{}}],"execution":[]}' })
  const registry = await loadRegistry({ manifests: [directory], builtins: false })
  t.match(registry.findings, [{ severity: 'error', rule: 'S1', message: /there is no SKILL.md beside it$/ }])
})

t.test('X15 a manifest with a command is agentcli, whatever unknown fields are beside it', async t => {
  const { registry } = await loadTexts(t, [JSON.stringify({ schema_version: '9', metadata: {}, allowlist: {}, tools: [entry({ module: 'x' })] })])
  t.strictSame([names(registry), registry.findings.map(({ severity, rule }) => `${severity} ${rule}`)], [['probe'], Array(4).fill('warning X21')])
})
