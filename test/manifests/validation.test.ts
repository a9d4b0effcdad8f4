import { join } from 'node:path'
import t from 'tap'
import { writeThrough } from '@toolyard/contract/terms'
import { loadRegistry, validateManifests } from '@toolyard/manifests'
import { entry } from './fixture.ts'
import { descriptor, manifestOf, project } from './project.ts'

t.test('P32 PC1 sound manifests are valid', async t => {
  const directory = project(t, { 'a.json': manifestOf(descriptor()), 'b.json': { tools: [entry({ name: 'other', description: 'Does another thing.' })] } })
  const paths = ['a.json', 'b.json'].map(name => join(directory, name))
  t.strictSame(await validateManifests(paths), { ok: true, findings: [], files: [paths[0], join(directory, 'mods/probe.py'), paths[1]] })
  t.match(await validateManifests(paths, { strict: true }), { ok: true, findings: [] })
})

t.test('P32 PC1 PC6 every finding of every file comes with file, position, rule and fix', async t => {
  const directory = project(t, {
    'a.yaml': 'schema_version: "1.0"\nmetadata:\n  name: a\ntools:\n  - name: Probe\n    description: Looks at something.\n    module: mods.probe\n    runtime:\n      timeout_seconds: 0\n',
    'b.json': '{\n  "schema_version": "1.0",\n  "metadata": {"name": "a", "description": "b"},\n  "tools": [\n    {"name": "probe", "description": "Looks at something.",\n      "module": "no.such"}\n  ]\n}\n',
    'c.json': '{"tools": [\n  {"name": "x", "command": []}]}',
    'd.json': '{"tools": [\n  {"name": "x" "y"}]}'
  })
  const { ok, findings } = await validateManifests(['a.yaml', 'b.json', 'c.json', 'd.json'].map(name => join(directory, name)))
  t.notOk(ok)
  t.match(findings.map(({ file, line, column, rule, message }) => `${file.slice(directory.length + 1)}:${line}:${column} ${rule} ${message}`), [
    'a.yaml:2:1 P11 metadata.description must be a non-empty string',
    'a.yaml:5:5 P28 tools[0].name must match ^[a-z0-9_-]+$',
    'a.yaml:9:7 P22 tools[0].runtime.timeout_seconds must be a positive number',
    /^b\.json:6:7 P29 tools\[0\]\.module import failed/,
    'c.json:2:3 A33 tool[0] "x": command must have at least program name',
    /^d\.json:2:16 AC1 parse manifest: /
  ])
  t.ok(findings.every(({ severity, fix }) => severity === 'error' && (fix ?? '') !== ''))
})

t.test('AC2 PC6 an error that stops the loading of a commands manifest hides no other finding from a validation', async t => {
  const directory = project(t, {
    'a.json': `{"tools": [\n  ${JSON.stringify(entry({ name: 'x' }))},\n  {"name": "x", "command": []},\n  {"name": "y", "command": []},\n  ${JSON.stringify(entry({ name: 'z', schema: [] }))},\n  {"name": "w", "command": ["../w"]}\n]}`,
    'b.json': '{"tools": [\n  {"name": "x",\n   "command": "x"}]}'
  })
  const { findings } = await validateManifests(['a.json', 'b.json'].map(name => join(directory, name)))
  t.match(findings.filter(({ severity }) => severity === 'error').map(({ file, line, column, rule }) => `${file.slice(directory.length + 1)}:${line}:${column} ${rule}`), [
    'a.json:3:3 A32', 'a.json:3:3 A33', 'a.json:4:3 A33', 'a.json:5:3 A6', 'a.json:6:3 AC3', 'b.json:3:4 AC10'
  ])
})

t.test('P32 with strict, warnings are errors', async t => {
  const directory = project(t, { 'a.json': manifestOf(descriptor({ version: 2 })) })
  t.match(await validateManifests([join(directory, 'a.json')]), { ok: true, findings: [{ severity: 'warning', rule: 'X21' }] })
  t.match(await validateManifests([join(directory, 'a.json')], { strict: true }), { ok: false, findings: [{ severity: 'error', rule: 'X21' }] })
})

t.test('advice about models is a note of a validation, also with strict', async t => {
  const directory = project(t, { 'a.json': manifestOf(descriptor({ description: 'x' })) })
  for (const strict of [false, true]) t.match(await validateManifests([join(directory, 'a.json')], { strict }), { ok: true, findings: [{ severity: 'note', rule: 'lint/description', line: 1 }] })
})

t.test('P25 PC6 an overridden tool is still imported, and its faults are reported', async t => {
  const directory = project(t, { 'a.json': manifestOf(descriptor()), 'b.json': { tools: [entry({ name: 'probe', description: 'Does another thing.' })] } })
  const tried: string[] = []
  const { ok, findings } = await validateManifests(['a.json', 'b.json'].map(name => join(directory, name)), {
    tryImports: async tools => {
      tried.push(...tools.map(({ source }) => source.file))
      return { faults: tools.map(tool => ({ tool, what: 'module' as const, reason: 'ModuleNotFoundError' })), signatures: [] }
    }
  })
  t.strictSame([ok, tried], [false, [join(directory, 'a.json')]])
  t.match(findings, [{ severity: 'error', rule: 'P29', file: join(directory, 'a.json'), line: 1 }, { rule: 'X13' }])
})

t.test('AC2 AC10 PC6 a validation of commands reports every fault and every warning of an entry', async t => {
  const directory = project(t, { 'a.json': { tools: [{ name: 5, command: 'x', limits: { cpuSec: 'a', memory: 1 }, sandbox: false }, { name: 'y', command: [], envPassthrough: ['1BAD', ''], sha256: 'x', schema: { pattern: '(', type: 'string' } }] } })
  const { findings } = await validateManifests([join(directory, 'a.json')])
  t.strictSame(findings.map(({ severity, rule }) => `${severity} ${rule}`).sort(), [
    'error AC10', 'error AC10', 'error AC10', 'error A33', 'error A36', 'error A6', 'error A6', 'error AC8', 'error fault 48', 'warning X21', 'warning X21'
  ].sort())
})

t.test('AC10 PC6 all wrong types of an entry of commands are reported at once, also each item of a list', async t => {
  const wrong = { name: 5, description: 5, schema: [], command: ['x', 5, 6], timeoutSec: 'a', envPassthrough: [1, 'A', 2], permissions: 'x', sha256: 5, enabled: 'x', disabled: 1, override: 'y', idempotent: 0 }
  const directory = project(t, { 'a.json': { tools: [wrong] } })
  const { findings } = await validateManifests([join(directory, 'a.json')])
  const text = (name: string): string => `parse manifest: tools[0].${name} must be a string`
  const flag = (name: string): string => `parse manifest: tools[0].${name} must be true or false`
  t.strictSame(findings.map(({ message }) => message), [
    text('name'), text('description'), 'parse manifest: tools[0].schema must be an object', text('command[1]'), text('command[2]'), 'parse manifest: tools[0].timeoutSec must be an integer',
    text('envPassthrough[0]'), text('envPassthrough[2]'), 'parse manifest: tools[0].permissions must be an array of strings', text('sha256'),
    flag('enabled'), flag('disabled'), flag('override'), flag('idempotent')
  ])
})

t.test('A6 a default that does not fit its property is a warning: a call without it would be refused', async t => {
  const properties = {
    count: { type: 'integer', default: '3' },
    path: { type: 'string', default: null },
    kind: { enum: ['a', 'b'], default: 'c' },
    free: { default: 5 },
    either: { type: ['string', 'null'], default: null },
    good: { type: 'number', default: 1.5 }
  }
  const directory = t.testdir({ 'a.json': JSON.stringify({ tools: [entry({ schema: { type: 'object', properties } })] }) })
  const { ok, findings } = await validateManifests([join(directory, 'a.json')])
  t.equal(ok, true)
  t.match(findings.filter(({ rule }) => rule === 'A6'), ['count', 'path', 'kind'].map(name => (
    { severity: 'warning', message: `tool[0] "probe": schema: the default of "${name}" does not fit it: it is not filled in` }
  )))
})

t.test('P20 X17 all wrong types of an entry of a tool manifest are reported at once', async t => {
  const inputs = { a: 5, b: { type: 7, required: 'x', description: 4, enum: 5, items: 5, properties: { c: 5 } } }
  const wrong = { name: 5, description: 5, module: 5, class_name: 5, permissions: [1], inputs, outputs: 5, runtime: { timeout_seconds: 'x', concurrency: 5 }, notes: 5, config: 5, enabled: 'x', idempotent: 5, sha256: 5 }
  const directory = project(t, { 'a.json': manifestOf(wrong) })
  const { findings } = await validateManifests([join(directory, 'a.json')])
  t.strictSame(findings.map(({ message }) => /^tools\[0\]\.(\S+) must /.exec(message)?.[1]), [
    'name', 'description', 'module', 'class_name', 'permissions', 'inputs.a', ...['type', 'required', 'description', 'enum', 'items', 'properties.c'].map(name => `inputs.b.${name}`), 'outputs',
    'runtime.timeout_seconds', 'runtime.concurrency', 'notes', 'config', 'enabled', 'idempotent', 'sha256'
  ])
})

t.test('PC6 P8 a validation of a tool manifest reports the error that stops its loading, and all others', async t => {
  const text = '{"schema_version": "1.0", "schema_version": "1.0",\n"metadata": {"name": "a", "description": "b"},\n"metadata": {"name": "a"},\n"python_root": 5,\n"tools": [{"name": "X", "module": ""}]}'
  const directory = project(t, { 'a.json': text })
  const { ok, findings } = await validateManifests([join(directory, 'a.json')])
  t.notOk(ok)
  t.strictSame(findings.map(({ line, severity, rule }) => `${line} ${severity} ${rule}`), ['1 error P8', '2 error P11', '3 error P8', '4 error P29', '5 error P14', '5 error P28', '5 error P15'])
})

const large = '725653563933458432'

t.test('A6 a number of a schema with more digits than are kept is told: a default is not filled in, a bound is read as another, and an enum takes away its entry', async t => {
  const directory = t.testdir({
    'a.json': `{"tools":[
      {"name":"default","command":["/bin/true"],"schema":{"properties":{"id":{"default":${large}},"deep":{"properties":{"ids":{"default":[1,${large}]}}}}}},
      {"name":"bound","command":["/bin/true"],"schema":{"properties":{"id":{"maximum":9223372036854775807}}}},
      {"name":"enum","command":["/bin/true"],"schema":{"properties":{"id":{"items":[{"enum":[1,${large}]}]}}}},
      {"name":"const","command":["/bin/true"],"schema":{"anyOf":[{"const":${large}}]}},
      {"name":"exact","command":["/bin/true"],"schema":{"properties":{"id":{"default":9007199254740994,"maximum":1e21,"const":9007199254740994}}}}
    ]}`,
    'b.yaml': `schema_version: "1.0"\nmetadata: {name: n, description: d}\ntools:\n- {name: one, description: d, module: one, class_name: One, inputs: {id: {type: integer, description: d, default: ${large}, maximum: &max 9223372036854775807}, other: {type: integer, description: d, maximum: *max}}, config: {channel: ${large}}}\n- {name: two, description: d, module: one, class_name: One, inputs: {id: {type: integer, description: d, enum: [${large}]}}}\n`,
    'one.py': 'class One:\n    pass\n'
  })
  const { findings } = await validateManifests([join(directory, 'a.json')])
  t.strictSame(findings.filter(({ rule }) => rule === 'A6').map(({ severity, message }) => `${severity} ${message}`), [
    'warning tool[0] "default": schema: the default of "id" does not fit it: it is not filled in',
    'warning tool[0] "default": schema: the default of "deep.ids" does not fit it: it is not filled in',
    'warning tool[1] "bound": schema: properties.id.maximum 9223372036854775807 has more digits than are kept: it is read as 9223372036854776000',
    `error tool[2] "enum": schema has ${large} at properties.id.items.0.enum.1, which has more digits than are kept (725653563933458400)`,
    `error tool[3] "const": schema has ${large} at anyOf.0.const, which has more digits than are kept (725653563933458400)`
  ])
  const yaml = (await validateManifests([join(directory, 'b.yaml')])).findings.filter(({ rule }) => rule === 'X17')
  t.match(yaml.map(({ severity, message }) => `${severity} ${message}`), [
    /^warning tools\[0\]\.inputs properties\.id\.maximum 9223372036854775807 has more digits/,
    /^warning tools\[0\]\.inputs properties\.other\.maximum 9223372036854775807 has more digits/,
    'warning tools[0].inputs.id.default does not fit the parameter: it is not filled in',
    /^error tools\[1\]\.inputs has 725653563933458432 at properties\.id\.enum\.0/
  ])
  const registry = await loadRegistry({ manifests: [join(directory, 'a.json'), join(directory, 'b.yaml')], builtins: false })
  t.strictSame(registry.get('default')?.validate({}), { ok: true, arguments: {} })
  const run = registry.get('one')?.tool.run
  t.equal(writeThrough(run?.kind === 'python' ? run.config : undefined), `{"channel":${large}}`, 'what a tool is made with keeps its digits')
})

t.test('AC10 an integer of a manifest has no fraction and no exponent', async t => {
  for (const [text, is] of [['10', true], ['1e1', false], ['10.0', false], ['-1', true], ['1E1', false]] as const) {
    const directory = t.testdir({ 'a.json': `{"tools":[{"name":"probe","command":["/bin/true"],"TimeoutSec":${text}}]}` })
    const { findings } = await validateManifests([join(directory, 'a.json')])
    t.strictSame(findings.filter(({ severity }) => severity === 'error').map(({ message }) => message), is ? [] : ['parse manifest: tools[0].timeoutSec must be an integer'], text)
  }
})

t.test('A6 parameters of a command are read as its schema, with a note; beside a schema they are ignored', async t => {
  const parameters = { type: 'object', properties: { n: { type: 'integer' } } }
  const directory = t.testdir({ 'a.json': JSON.stringify({ tools: [entry({ name: 'one', parameters }), entry({ name: 'two', parameters, schema: { type: 'object' } })] }) })
  const { ok, findings } = await validateManifests([join(directory, 'a.json')])
  t.ok(ok)
  t.match(findings.filter(({ message }) => message.includes('parameters')), [
    { severity: 'note', rule: 'A6', tool: 'one', message: 'tools[0].parameters is read as schema' }, { severity: 'warning', tool: 'two', message: /parameters/ }
  ])
  const registry = await loadRegistry({ manifests: [join(directory, 'a.json')], builtins: false })
  t.match(registry.get('one')?.validate({ n: 'x' }), { ok: false })
  t.match(registry.get('two')?.validate({ n: 'x' }), { ok: true })
})
