import { join } from 'node:path'
import t from 'tap'
import { loadRegistry, validateManifests } from '@toolyard/manifests'
import { names } from './fixture.ts'
import { descriptor, head, loadProject, manifestOf, project, told } from './project.ts'

const tools = [descriptor()]

t.test('P1 P2 P3 P4 P5 P6 P9 P10 P11 P12 the example of the specification loads without a finding', async t => {
  const registry = await loadProject(t, {
    'config/tool_manifest.json': {
      schema_version: '1.0',
      metadata: { name: 'default', description: 'Core tools', maintainers: ['your-handle'], tags: ['core', 'starter'] },
      tools: [{
        name: 'git_status',
        description: 'Inspect repository status',
        module: 'mods.probe',
        class_name: 'Probe',
        permissions: ['read_repo'],
        inputs: { path: { type: 'string', required: false, default: '.' }, short: { type: 'boolean', required: false, default: true } },
        outputs: { clean: { type: 'boolean' }, summary: { type: 'string' } },
        runtime: { timeout_seconds: 10, concurrency: 'serial' },
        notes: 'Shells out to git status'
      }]
    }
  })
  t.strictSame(registry.findings, [])
  t.match(registry.published().map(({ tool }) => tool), [{
    name: 'git_status',
    description: 'Inspect repository status',
    parameters: { type: 'object', properties: { path: { type: 'string', default: '.' }, short: { type: 'boolean', default: true } } },
    jobType: 'pylot.git_status',
    timeoutSec: 10,
    serial: true,
    permissions: ['read_repo'],
    notes: 'Shells out to git status',
    run: { kind: 'python', module: 'mods.probe', className: 'Probe', config: {}, strictOutputs: false, outputs: { clean: { type: 'boolean' } } }
  }])
})

t.test('P7 P31 X15 an unknown version is read as 1.0, with a warning that strict validation makes an error', async t => {
  for (const version of ['2.0', '1.0.0', '1', 2]) {
    const directory = project(t, { 'a.json': { ...head, schema_version: version, tools } })
    const manifests = [join(directory, 'a.json')]
    const registry = await loadRegistry({ manifests, builtins: false })
    t.strictSame([names(registry), told(registry)], [['probe'], ["warning X15 schema_version must be '1.0'"]], String(version))
    t.ok((await validateManifests(manifests)).ok)
    t.notOk((await validateManifests(manifests, { strict: true })).ok)
  }
})

t.test('P9 X15 PC3 a missing version is a warning when loading, and an error to validate', async t => {
  for (const version of [undefined, null, [], true]) {
    const directory = project(t, { 'a.json': { ...head, schema_version: version, tools } })
    const manifests = [join(directory, 'a.json')]
    const registry = await loadRegistry({ manifests, builtins: false })
    t.match([names(registry), told(registry)], [['probe'], ["warning X15 schema_version must be '1.0'"]])
    const { ok, findings } = await validateManifests(manifests)
    t.match([ok, findings], [false, [{ severity: 'error', rule: 'X15', message: "schema_version must be '1.0'" }]])
  }
})

t.test('X15 the YAML float 1.0 counts as "1.0", with a warning', async t => {
  const yaml = 'schema_version: 1.0\nmetadata: {name: a, description: b}\ntools:\n  - {name: probe, description: Looks at something., module: mods.probe}\n'
  const directory = project(t, { 'a.yaml': yaml, 'b.yaml': yaml.replace('1.0', '"1.0"') })
  const registry = await loadRegistry({ manifests: [join(directory, 'a.yaml')], builtins: false })
  t.match(registry.findings, [{ severity: 'warning', rule: 'X15', fix: /in quotes/ }])
  t.ok((await validateManifests([join(directory, 'a.yaml')])).ok)
  t.strictSame((await loadRegistry({ manifests: [join(directory, 'b.yaml')], builtins: false })).findings, [])
})

t.test('P10 P11 PC3 faults of the metadata do not keep tools from being served, and are errors to validate', async t => {
  const cases: Array<[unknown, string[]]> = [
    [undefined, ['metadata must be an object']],
    [null, ['metadata must be an object']],
    [[], ['metadata must be an object']],
    [{}, ['metadata.name must be a non-empty string', 'metadata.description must be a non-empty string']],
    [{ name: ' ', description: 7 }, ['metadata.name must be a non-empty string', 'metadata.description must be a non-empty string']],
    [{ name: 'a', description: 'b', maintainers: 'me', tags: ['x', 1] }, ['metadata.maintainers must be a list of strings', 'metadata.tags must be a list of strings']]
  ]
  for (const [metadata, messages] of cases) {
    const directory = project(t, { 'a.json': { ...head, metadata, tools } })
    const manifests = [join(directory, 'a.json')]
    const registry = await loadRegistry({ manifests, builtins: false })
    t.strictSame([names(registry), registry.findings.map(({ severity, message }) => [severity, message])], [['probe'], messages.map(message => ['warning', message])])
    const { findings } = await validateManifests(manifests)
    t.strictSame(findings.map(({ severity, message }) => [severity, message]), messages.map(message => ['error', message]))
  }
})

t.test('P12 PC3 a manifest without tools is an error', async t => {
  for (const list of [undefined, null, [], {}, 'x']) {
    const registry = await loadProject(t, { 'a.json': { ...head, tools: list }, 'b.json': manifestOf(...tools) })
    t.strictSame([names(registry), told(registry)], [['probe'], ['error P12 tools must be a non-empty array']])
  }
})

t.test('P12 PC3 PC12 an entry that is no object is skipped alone', async t => {
  const registry = await loadProject(t, { 'a.json': { ...head, tools: [null, 'x', [], descriptor()] } })
  t.strictSame([names(registry), told(registry)], [['probe'], [0, 1, 2].map(at => `error P12 tools[${at}] must be an object`)])
})

t.test('PC8 another root than an object is refused, and other manifests serve', async t => {
  const registry = await loadProject(t, { 'a.yaml': '- 1\n', 'b.yml': 'text', 'c.yaml': '', 'd.json': manifestOf(...tools) })
  t.strictSame([names(registry), registry.findings.map(({ message }) => message)], [['probe'], Array(3).fill('the manifest must be an object')])
})

t.test('PC6 every fault of every manifest is found', async t => {
  const registry = await loadProject(t, {
    'a.json': { ...head, schema_version: '3', metadata: {}, tools: [descriptor({ name: 'A', description: '' }), descriptor({ module: 1, permissions: 2 })] },
    'b.json': { ...head, tools: [descriptor({ name: '', inputs: [] })] }
  })
  t.equal(registry.findings.length, 3 + 4 + 2)
  t.strictSame(names(registry), [])
})

t.test('PC6 many faults are counted, not listed', async t => {
  const registry = await loadProject(t, { 'a.json': `{"schema_version":"1.0","metadata":{"name":"a","description":"b"},"tools":[${'0,'.repeat(40_000)}0]}` })
  t.equal(registry.findings.length, 1_001)
  t.match(registry.findings.at(-1), { message: '39001 more findings are not listed' })
})

t.test('X21 unknown fields are ignored, with a warning that names the likely field', async t => {
  const registry = await loadProject(t, {
    'a.json': { $schema: './x.json', 'x-note': 1, ...head, tolls: 1, tools: [descriptor({ clas_name: 'X', timeout: 3, 'x-own': 1, version: '2', runtime: { timeout_secs: 3, memory: '1G' } })] }
  })
  t.strictSame(names(registry), ['probe'])
  t.match(registry.findings, [
    { severity: 'warning', rule: 'X21', path: ['tolls'], fix: 'Write tools.' },
    { rule: 'X21', path: ['tools', 0, 'runtime', 'timeout_secs'], fix: 'Write timeout_seconds.' },
    { rule: 'X21', message: 'tools[0].clas_name is no known field and is ignored', fix: 'Write class_name.' },
    { rule: 'X21', path: ['tools', 0, 'timeout'], fix: 'Write runtime.timeout_seconds.' },
    { rule: 'X21', path: ['tools', 0, 'version'], fix: /^Remove it/ }
  ])
  t.equal(registry.findings.length, 5, 'resource expectations in runtime are hints for others (P22)')
})
