import { chmodSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadRegistry } from '@toolyard/manifests'
import { entry, names } from './fixture.ts'
import { descriptor, head, loadProject, manifestOf, project, told } from './project.ts'

const yamlHead = 'schema_version: "1.0"\nmetadata: {name: a, description: b}\n'
const yamlTool = '{name: probe, description: Looks at something., module: mods.probe}'
const sound = { 'sound.json': { tools: [entry({ name: 'sound' })] } }

t.test('P8 PC7 the same manifest as JSON and as YAML gives the same tools', async t => {
  const yaml = `${yamlHead}x-common: &common
  description: Looks at something.
  module: mods.probe
tools:
  - <<: *common
    name: probe
    inputs:
      path: {type: string, default: "."}   # a comment
    runtime:
      timeout_seconds: 0.5
`
  const files = { 'a.json': manifestOf(descriptor({ inputs: { path: { type: 'string', default: '.' } }, runtime: { timeout_seconds: 0.5 } })), 'b.yaml': yaml, 'c.yml': yaml, 'd.conf': yaml }
  const directory = project(t, files)
  const versions = await Promise.all(Object.keys(files).map(async name => {
    const registry = await loadRegistry({ manifests: [join(directory, name)], builtins: false })
    t.strictSame(registry.findings, [], name)
    return registry.version
  }))
  t.equal(new Set(versions).size, 1)
})

t.test('P8 PC7 JSON in a YAML file is read as JSON', async t => {
  t.strictSame(names(await loadProject(t, { 'a.yaml': manifestOf(descriptor()) })), ['probe'])
})

t.test('P8 P9 P15 a tool manifest is recognized by its content', async t => {
  for (const manifest of [{ schema_version: '1.0', tools: [descriptor()] }, { metadata: {}, tools: [descriptor()] }, { tools: [descriptor()] }]) {
    t.strictSame(names(await loadProject(t, { 'tools.json': manifest })), ['probe'])
  }
})

t.test('A1 agentcli as YAML is refused with its reason', async t => {
  t.match(told(await loadProject(t, { 'a.yaml': 'tools: [{name: a, command: [/bin/true]}]\n' })), [/^error A1 this is an agentcli manifest .* which must be JSON$/])
})

t.test('P8 PC2 broken texts are refused with file, position and the message of the original program', async t => {
  const registry = await loadProject(t, {
    'a.json': '{"schema_version": "1.0", // a comment\n"tools": []}',
    'b.yaml': `${yamlHead}tools:\n  - {name: probe\n  - x: [\n`,
    'c.yaml': `${yamlHead}--- # another document\ntools: []\n`,
    'd.yaml': `${yamlHead}tools: [!!js/function "x"]\n`,
    'e.yaml': `${yamlHead}tools: [*nothing]\n`,
    ...sound
  })
  t.strictSame(names(registry), ['sound'])
  t.match(told(registry), [/^error PC2 Invalid JSON in \/.*\/a\.json: /, ...['b', 'c', 'd', 'e'].map(name => new RegExp(`^error PC2 Invalid YAML in /.*/${name}\\.yaml: `))])
  t.match(registry.findings[1], { line: Number, column: Number })
  t.match(registry.findings[2], { message: /several documents in one file$/ })
})

t.test('PC2 aliases that expand without bound, cycles and values that JSON doesn\'t have are refused', async t => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]', ...[...'bcdefghi'].map((letter, at) => `${letter}: &${letter} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(', ')}]`)].join('\n')
  const wide = `a: &a "${'x'.repeat(500_000)}"\nb: [${Array(60).fill('*a').join(', ')}]`
  const texts = [bomb, wide, 'a: &a [*a, *a]', 'a: &a {b: *a}', 'a: .inf', 'a: -.inf', '? [1, 2]\n: .nan']
  const registry = await loadProject(t, { ...Object.fromEntries(texts.map((text, at) => [`${at}.yaml`, `${yamlHead}tools: [${yamlTool}]\nx-data:\n  ${text.replaceAll('\n', '\n  ')}\n`])), ...sound })
  t.strictSame(names(registry), ['sound'])
  t.strictSame(registry.findings.map(({ rule }) => rule), texts.map(() => 'PC2'))
})

t.test('PC2 deep nesting is refused, and does not exhaust the stack', async t => {
  const deep = '['.repeat(100_000)
  const registry = await loadProject(t, {
    'a.json': `{"schema_version":"1.0","tools":${'['.repeat(200)}${']'.repeat(200)}}`,
    'b.yaml': `${yamlHead}tools: ${deep}`,
    'c.yaml': `${yamlHead}tools: ${'['.repeat(200)}${']'.repeat(200)}\n`,
    ...sound
  })
  t.strictSame(names(registry), ['sound'])
  t.match(told(registry), [/^error PC2 Invalid JSON in .* nested deeper than 100 levels$/, ...['b', 'c'].map(name => new RegExp(`^error PC2 Invalid YAML in .*${name}\\.yaml: nested deeper than 100 levels$`))])
})

t.test('P8 a duplicate key makes its entry invalid, or the manifest when it is outside entries', async t => {
  const twice = '{"name":"twice","description":"Says two things.","module":"mods.probe","permissions":[],"permissions":["network"]}'
  const json = (extra: string) => `{"schema_version":"1.0",${extra}"metadata":${JSON.stringify(head.metadata)},\n"tools":[${JSON.stringify(descriptor())},\n${twice}]}`
  const yaml = `${yamlHead}tools:\n  - ${yamlTool}\n  - name: twice\n    description: Says two things.\n    module: mods.probe\n    permissions: []\n    permissions: [network]\n`
  for (const [name, text, line] of [['a.json', json(''), 3], ['a.yaml', yaml, 9]] as const) {
    const registry = await loadProject(t, { [name]: text })
    t.strictSame(names(registry), ['probe'], name)
    t.match(registry.findings, [{ severity: 'error', rule: 'P8', index: 1, line, message: 'tools[1].permissions stands twice' }])
  }
  for (const [name, text] of [['a.json', json('"tools":[],')], ['a.yaml', `${yaml}tools: []\n`]] as const) {
    t.match(await loadProject(t, { [name]: text }), { findings: [{ severity: 'error', message: 'tools stands twice' }] })
  }
})

t.test('AC10 a duplicate key in an agentcli manifest is a warning, and the last one counts, as in Go', async t => {
  const registry = await loadProject(t, { 'tools.json': '{"tools":[{"name":"a","name":"b",\n"command":["/bin/true"],"schema":{"properties":{"\\u0070":{},"p":{}}}}]}' })
  t.strictSame(names(registry), ['b'])
  t.strictSame(told(registry), ['warning AC10 tools[0].name stands twice; the last one counts', 'warning AC10 tools[0].schema.properties.p stands twice; the last one counts'])
  t.match(registry.findings, [{ line: 1, column: 23 }, { line: 2, column: 61 }])
})

t.test('PC8 a byte order mark is ignored in YAML, and a warning in JSON', async t => {
  const registry = await loadProject(t, { 'a.json': `\ufeff${JSON.stringify(manifestOf(descriptor()))}`, 'b.yaml': `\ufeff${yamlHead}tools: [${yamlTool.replace('probe', 'other')}]\n` })
  t.strictSame(names(registry), ['probe', 'other'])
  t.match(told(registry), [/^warning PC8 begins with a byte order mark/])
})

t.test('PC2 AC1 bytes that are no UTF-8 are refused in tool manifests, and a warning in agentcli', async t => {
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  const registry = await loadProject(t, {
    'a.json': bytes(JSON.stringify(manifestOf(descriptor({ description: 'Größe' })))),
    'b.yaml': bytes(`${yamlHead}tools: [{name: probe, description: Größe, module: mods.probe}]\n`),
    'c.json': bytes(JSON.stringify({ tools: [entry({ description: 'Größe' })] }))
  })
  t.match(told(registry), [/^error PC2 Invalid JSON in .* not UTF-8$/, /^error PC2 Invalid YAML in .* not UTF-8$/, /^warning AC1 is not UTF-8/])
  t.strictSame(names(registry), ['probe'])
})

t.test('PC7 files that are missing, too large or not readable do not keep others from being served', async t => {
  const directory = project(t, { ...sound, 'large.json': Buffer.alloc(10_485_761, ' '), 'large.yaml': `${yamlHead}# ${'x'.repeat(2_097_152)}\n`, 'closed.yaml': yamlHead })
  chmodSync(join(directory, 'closed.yaml'), 0)
  symlinkSync('nowhere.yaml', join(directory, 'dangling.yaml'))
  const files = ['missing.yaml', 'dangling.yaml', 'large.json', 'large.yaml', 'sound.json']
  const registry = await loadRegistry({ manifests: files.map(name => join(directory, name)), builtins: false })
  t.strictSame(names(registry), ['sound'])
  t.match(told(registry), [/^error AC1 read manifest: ENOENT/, /^error AC1 read manifest: ENOENT/, /^error AC1 read manifest: .* is larger than 10485760 bytes$/, /^error PC2 Invalid YAML in .*: larger than 2097152 bytes/])
  // Root may read everything.
  if (process.getuid?.() !== 0) t.match(told(await loadRegistry({ manifests: [join(directory, 'closed.yaml')], builtins: false })), [/^error AC1 read manifest: EACCES/])
  rmSync(join(directory, 'closed.yaml'))
})
