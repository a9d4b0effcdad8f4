import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadRegistry, validateManifests } from '@toolyard/manifests'
import { entry, errors, load, loadTexts, names } from './fixture.ts'

t.test('A1 the root holds a list of tools, and a root that holds none is no error', async t => {
  const registry = await load(t, entry({ name: 'a' }), entry({ name: 'b' }))
  t.strictSame(names(registry), ['a', 'b'])
  t.strictSame(registry.findings, [])
})

t.test('A2 A3 A31 a tool without a name is refused with its index', async t => {
  for (const nameless of [{ command: ['/bin/true'] }, entry({ name: '' }), entry({ name: null }), null]) {
    const registry = await load(t, entry(), nameless)
    t.match(errors(registry), [{ rule: 'A31', index: 1, message: 'tool[1]: name is required' }])
    t.strictSame(names(registry), [])
  }
})

t.test('A4 A32 a name that appears twice is refused with its index and name', async t => {
  const registry = await load(t, entry({ name: 'a' }), entry({ name: 'b' }), entry({ name: 'a' }))
  t.match(errors(registry), [{ rule: 'A32', index: 2, tool: 'a', message: 'tool[2] "a": duplicate name' }])
})

t.test('A5 A6 description and schema are optional', async t => {
  const registry = await load(t, entry({ name: 'bare' }), entry({ name: 'full', description: 'Says it.', schema: { type: 'object' } }))
  t.match(registry.get('bare')?.tool, { description: '', parameters: { type: 'object', properties: {} } })
  t.match(registry.get('full')?.tool, { description: 'Says it.', parameters: { type: 'object' } })
})

t.test('A6 a schema that is not an object is refused', async t => {
  for (const schema of [[], 'x', 1, true]) {
    const registry = await load(t, entry({ schema }))
    t.match(errors(registry), [{ rule: 'A6', index: 0, tool: 'probe', message: 'tool[0] "probe": schema must be a JSON object' }])
  }
})

t.test('A8 A9 the command is the program and its fixed arguments', async t => {
  const registry = await load(t, entry({ command: ['/bin/echo', '-n', 'a b', ''] }))
  t.match(registry.get('probe')?.tool.run, { kind: 'command', program: '/bin/echo', args: ['-n', 'a b', ''] })
})

t.test('A10 A33 a command needs at least the program', async t => {
  for (const command of [[], null, undefined]) {
    const registry = await load(t, entry({ command }))
    t.match(errors(registry), [{ rule: 'A33', message: 'tool[0] "probe": command must have at least program name' }])
  }
})

t.test('A17 A18 timeoutSec is the tool\'s own timeout; without it there is none', async t => {
  const registry = await load(t, entry({ name: 'own', timeoutSec: 5 }), entry({ name: 'none' }))
  t.equal(registry.get('own')?.tool.timeoutSec, 5)
  t.notOk('timeoutSec' in (registry.get('none')?.tool ?? {}))
})

t.test('X8 a timeout above an hour is cut to an hour, with a warning', async t => {
  const registry = await load(t, entry({ timeoutSec: 7200 }))
  t.equal(registry.get('probe')?.tool.timeoutSec, 3600)
  t.match(registry.findings, [{ severity: 'warning', rule: 'X8', message: 'tool[0] "probe": timeoutSec 7200 is above 3600; 3600 is used' }])
})

t.test('A27 an error says file, rule, index, name and what to do', async t => {
  const { registry, files } = await loadTexts(t, [JSON.stringify({ tools: [entry(), entry({ name: 'b', command: [] })] })])
  t.same(registry.findings, [{
    severity: 'error',
    whole: true,
    file: files[0],
    rule: 'A33',
    index: 1,
    tool: 'b',
    message: 'tool[1] "b": command must have at least program name',
    fix: 'Write "command": ["./tools/bin/NAME"].'
  }])
})

t.test('AC1 a manifest that cannot be read is an error, not a crash', async t => {
  const directory = t.testdir({ empty: {} })
  for (const path of [join(directory, 'missing.json'), join(directory, 'empty'), '/dev/null', 'nul\0byte']) {
    const registry = await loadRegistry({ manifests: [path] })
    t.match(errors(registry), [{ rule: 'AC1', message: /^read manifest: / }], path)
    t.ok(registry.published().some(({ tool }) => tool.name === 'data_file_read'), 'the built-in tools serve')
  }
  for (const between of [':', ' ', '\t']) t.match(errors(await loadRegistry({ manifests: [`/a.json${between}/b.json`] })), [{ fix: /commas separate several/ }], JSON.stringify(between))
})

t.test('AC1 a manifest above 10 MiB is refused', async t => {
  const { registry } = await loadTexts(t, [`{"tools":[]}${' '.repeat(10_485_760)}`])
  t.match(errors(registry), [{ rule: 'AC1', message: /^read manifest: .* is larger than 10485760 bytes$/ }])
})

t.test('AC1 an empty object, null, and tools null are no tools', async t => {
  for (const text of ['{}', 'null', '{"tools":null}', ' {"tools":[]}\n']) {
    const { registry } = await loadTexts(t, [text])
    t.strictSame([errors(registry), names(registry)], [[], []], text)
  }
})

t.test('A1 a manifest without a list of tools is a warning, to validate too; an empty list is none', async t => {
  for (const text of ['{}', 'null', '{"TOOLS":null}', '{"mcpServers":{}}', '{"tols":[]}']) {
    const { registry } = await loadTexts(t, [text])
    t.match(registry.findings.find(({ rule }) => rule === 'A1'), { severity: 'warning', message: 'has no list of tools' }, text)
    const { ok, findings } = await validateManifests([join(t.testdir({ 'none.json': text }), 'none.json')])
    t.ok(ok, text)
    t.match(findings.find(({ rule }) => rule === 'A1'), { severity: 'warning', line: 1, fix: /^Write \{"tools": \[/ }, text)
  }
  const { registry } = await loadTexts(t, ['{"Tools":[]}'])
  t.strictSame(registry.findings, [])
})

t.test('A1 an OpenAPI document in the place of a manifest is one error, which says how tools are made of it', async t => {
  const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, servers: [{ url: 'https://a.example' }], paths: {} }
  const { openapi: _, ...older } = document
  const dir = t.testdir({
    'api.json': JSON.stringify(document), 'api.yaml': 'openapi: 3.0.3\ninfo: {title: A}\npaths: {}\n', 'old.json': JSON.stringify({ swagger: '2.0', ...older })
  })
  for (const name of ['api.json', 'api.yaml', 'old.json']) {
    const { ok, findings } = await validateManifests([join(dir, name)])
    t.notOk(ok, name)
    t.match(findings, [{ severity: 'error', rule: 'A1', message: 'this is an OpenAPI document, which is no manifest', fix: /^Run toolyard import openapi FILE --out tools\.json/ }], name)
    t.equal(findings.length, 1, name)
  }
})

t.test('X21 the warning for a tool in the form of a model\'s API says what an entry has in place of it', async t => {
  const forms = [
    [{ functionDeclarations: [] }, /entry with name, description, schema .* and command/], [{ toolSpec: {} }, /entry with name/], [{ function: {} }, /command that runs it/],
    [{ input_schema: {} }, 'Write schema.'], [{ parameter_definitions: {} }, 'Write schema, a JSON Schema.']
  ] as const
  for (const [tool, fix] of forms) {
    const { findings } = await validateManifests([join(t.testdir({ 'form.json': JSON.stringify({ tools: [tool] }) }), 'form.json')])
    t.match(findings.filter(({ rule }) => rule === 'X21'), [{ fix }], JSON.stringify(tool))
  }
})

t.test('AC1 broken JSON, other roots, a byte order mark and trailing bytes fail', async t => {
  for (const text of ['', '{', '[]', '"x"', '7', '{"tools":{}}', '{"tools":[1]}', '{"tools":[[]]}', '{"tools":[]}x', '\ufeff{"tools":[]}']) {
    const { registry } = await loadTexts(t, [text])
    t.match(errors(registry), [{ message: /^parse manifest: / }], text)
  }
})

t.test('AC1 the error of incomplete or malformed JSON has line and column, in one line', async t => {
  const wrong: Array<[text: string, line: number, column: number]> = [
    ['{"tools": [}\n', 1, 12], ['{"tools": [\n  {"name": "a"},\n]}\n', 3, 1], ['{\n  "tools": [],\n}\n', 3, 1], ['{"tools":[]}\n\nx', 3, 1],
    ['// mine\n{"tools": []}', 1, 1], ['{\n"tools": [', 2, 11]
  ]
  for (const [text, line, column] of wrong) {
    const { registry } = await loadTexts(t, [text])
    t.match(errors(registry), [{ rule: 'AC1', message: /^parse manifest: .+$/, line, column }], text)
  }
  const deep = await loadTexts(t, [`{"tools":${'['.repeat(200_000)}`])
  t.match(errors(deep.registry), [{ rule: 'AC1', message: /^parse manifest: / }], 'one that is too deep to be walked is told all the same')
})

t.test('AC1 the error for JSON in UTF-16 says how to save it', async t => {
  for (const mark of ['\ufeff', '']) {
    const path = join(t.testdir({}), 'tools.json')
    writeFileSync(path, Buffer.from(`${mark}{"tools": []}`, 'utf16le'))
    t.match((await validateManifests([path])).findings, [{ rule: 'AC1', fix: 'Save it as UTF-8: it seems to be UTF-16.' }])
  }
})

t.test('AC1 the error for a directory without a manifest says what a directory may hold', async t => {
  const directory = t.testdir({ nested: { deep: { 'README.md': '# No skill' } } })
  t.match((await validateManifests([directory])).findings, [{ rule: 'AC1', message: /^read manifest: ENOENT/, fix: /^Name a manifest, a directory with SKILL.md/ }])
  t.match((await validateManifests([join(directory, 'gone/tools.json')])).findings, [{ rule: 'AC1', fix: /^Check the path/ }])
})

t.test('AC1 deep nesting fails and does not exhaust the stack', async t => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  const { registry } = await loadTexts(t, [`{"tools":[{"name":"a","command":["/bin/true"],"x-own":{"default":${deep}}}]}`])
  t.match(errors(registry), [{ rule: 'AC1', message: 'parse manifest: nested deeper than 100 levels' }])
  const schema = await loadTexts(t, [`{"tools":[{"name":"a","command":["/bin/true"],"Schema":{"default":${deep},"a":1,"a":1}},{"name":"b","command":["/bin/true"]}]}`])
  t.match(errors(schema.registry), [{ rule: 'A6', message: 'tool[0] "a": schema is nested deeper than 100 levels' }])
  t.strictSame(names(schema.registry), ['b'], 'a schema takes away its own entry alone')
})

t.test('AC2 the first error ends the manifest, in the documented order', async t => {
  const bad = { name: 'probe', command: [], envPassthrough: ['1BAD'], schema: [] }
  const rules = async (...entries: Array<Record<string, unknown>>) => errors(await load(t, ...entries)).map(({ rule }) => rule)
  t.strictSame(await rules({ ...bad, name: '' }), ['A31'], 'name')
  t.strictSame(await rules(entry(), bad), ['A32'], 'a duplicate wins over a missing command')
  t.strictSame(await rules(bad), ['A33'], 'command wins over the environment')
  t.strictSame(await rules({ ...bad, command: ['echo'] }), ['A36'], 'a bad variable wins over a bad path')
  t.strictSame(await rules({ ...bad, command: ['echo'], envPassthrough: [] }), ['A34'], 'the path wins over the schema')
  t.strictSame(await rules({ ...bad, command: ['/bin/true'], envPassthrough: [] }), ['A6'], 'the schema')
  t.strictSame(await rules({ ...bad, timeoutSec: '5' }), ['AC10'], 'types are read before anything is checked')
  t.strictSame(await rules({ ...bad, command: [] }, entry({ name: '' })), ['A33'], 'of two broken tools the first is named')
})

t.test('AC10 unknown fields are ignored', async t => {
  const registry = await load(t, entry({ x: 1, metadata: {}, constructor: 2 }))
  t.strictSame([names(registry), errors(registry), registry.findings.length], [['probe'], [], 3])
})

t.test('AC10 names of fields match in any case, and the last one wins', async t => {
  const { registry } = await loadTexts(t, ['{"TOOLS":[{"NAME":"a","name":"b","Command":["/bin/true"],"timeout\u017fec":7,"__proto__":{"name":"c"}}]}'])
  t.match(registry.get('b')?.tool, { name: 'b', timeoutSec: 7 })
  t.strictSame(names(registry), ['b'])
})

t.test('AC10 a field of the wrong type is a parse error that names it', async t => {
  for (const [fields, place] of [
    [{ name: 1 }, 'tools[0].name must be a string'],
    [{ description: [] }, 'tools[0].description must be a string'],
    [{ command: 'echo' }, 'tools[0].command must be an array of strings'],
    [{ command: ['/bin/true', 1] }, 'tools[0].command[1] must be a string'],
    [{ timeoutSec: 1.5 }, 'tools[0].timeoutSec must be an integer'],
    [{ timeoutSec: '5' }, 'tools[0].timeoutSec must be an integer'],
    [{ envPassthrough: 'TZ' }, 'tools[0].envPassthrough must be an array of strings'],
    [{ enabled: 'no' }, 'tools[0].enabled must be true or false'],
    [{ idempotent: 1 }, 'tools[0].idempotent must be true or false']
  ] as const) {
    t.match(errors(await load(t, entry(fields))), [{ rule: 'AC10', message: `parse manifest: ${place}` }])
  }
})

t.test('AC10 a timeout of zero or less is unset, and a name of blanks is a name', async t => {
  const registry = await load(t, entry({ name: '  ', timeoutSec: 0 }), entry({ name: 'b', timeoutSec: -3 }))
  t.strictSame(names(registry), ['  ', 'b'])
  for (const { tool } of registry.all()) t.notOk('timeoutSec' in tool)
})

t.test('a tool is idempotent only when its entry says so', async t => {
  const registry = await load(t, entry({ name: 'once' }), entry({ name: 'again', idempotent: true }))
  t.strictSame(registry.all().map(({ tool }) => tool.idempotent), [false, true])
})
