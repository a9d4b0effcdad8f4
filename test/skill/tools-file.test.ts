import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { toolSpec, type Finding } from '@toolyard/manifests'
import { createFixture, names, told, toolsFile, type Json } from './fixture.ts'
import { threeFiles } from './three-files/fixture.ts'

/** The findings in a `tools.json`, and the tools that are loaded from it and from a sound skill beside it. */
async function load (t: Test, content: Json | string): Promise<{ findings: readonly Finding[], tools: string[], file: string }> {
  const fixture = createFixture(t)
  const file = join(fixture.skill('broken', { 'tools.json': content }), 'tools.json')
  fixture.skill('sound', { 'tools.json': { ...toolsFile(), tools: [{ name: 'sound', parameters: {} }], execution: [{ tool: 'sound', binary: 'show', subcommand: 'run' }] } })
  const registry = await fixture.load()
  return { findings: registry.findings, tools: names(registry), file }
}

const [tool, execution] = [{ name: 'probe', parameters: {} }, { tool: 'probe', binary: 'show', subcommand: 'run' }]
const file = (change: Json): Json => ({ tools: [tool], allowlist: { show: ['run'] }, execution: [execution], ...change })
const arg = (fields: Json): Json => file({ execution: [{ ...execution, args: [fields] }] })
const expectedArg = 'expected one of `param`, `kind`, `flag`, `flagIfTrue`, `flagIfFalse`, `normalizeNewlines`, `allowDash`, `resolveCommand`'

/** Files that are refused as a whole: the rule, and the text that says why. */
const refused: Array<[title: string, content: Json | string, rule: string, message: string]> = [
  ['SC1 X21 an unknown field in the root', file({ postProcess: {} }), 'SC1', 'unknown field `postProcess`, expected one of `tools`, `allowlist`, `execution`'],
  ['SC1 X21 an unknown field of a tool', file({ tools: [{ ...tool, optional: true }] }), 'SC1', 'tools[0]: unknown field `optional`, expected one of `name`, `description`, `parameters`, `permissions`'],
  ['SC1 X21 an unknown field of an execution', file({ execution: [{ ...execution, denyPattern: 'x' }] }), 'SC1', 'execution[0]: unknown field `denyPattern`, expected one of `tool`, `binary`, `subcommand`, `args`'],
  ['SC1 X21 an unknown field of an argument', arg({ param: 'a', readPath: true }), 'SC1', `execution[0].args[0]: unknown field \`readPath\`, ${expectedArg}`],
  ['SC1 X21 an unknown field of a resolver', arg({ param: 'a', resolveCommand: { name: 'x' } }), 'SC1', 'execution[0].args[0].resolveCommand: unknown field `name`, expected one of `script`, `binary`, `subcommand`, `args`'],
  ['S5 SC1 a name that is not camelCase', arg({ param: 'a', flag_if_true: '--x' }), 'SC1', `execution[0].args[0]: unknown field \`flag_if_true\`, ${expectedArg}`],
  ['SC1 a tool without a name', file({ tools: [{ parameters: {} }] }), 'SC1', 'tools[0]: missing field `name`'],
  ['SC1 an execution without a tool', file({ execution: [{ binary: 'show', subcommand: 'run' }] }), 'SC1', 'execution[0]: missing field `tool`'],
  ['SC1 an execution without a binary', file({ execution: [{ tool: 'probe', subcommand: 'run' }] }), 'SC1', 'execution[0]: missing field `binary`'],
  ['SC1 an execution without a subcommand', file({ execution: [{ tool: 'probe', binary: 'show' }] }), 'SC1', 'execution[0]: missing field `subcommand`'],
  ['SC1 an argument without a parameter', arg({}), 'SC1', 'execution[0].args[0]: missing field `param`'],
  ['SC1 a duplicate key', '{"tools": [],\n  "tools": []}', 'SC1', 'duplicate field `tools` at line 2 column 3'],
  ['SC1 a duplicate key that is written in another way', '{"a": {"x": [1, {"t": 1, "\\u0074": 2}]}}', 'SC1', 'duplicate field `t` at line 1 column 26'],
  ['SC2 a kind in another case', arg({ param: 'a', kind: 'flagIfBoolean' }), 'SC2', 'execution[0].args[0].kind: expected one of `positional`, `flag`, `flagifboolean`'],
  ['SC2 a kind of null', arg({ param: 'a', kind: null }), 'SC2', 'execution[0].args[0].kind: expected one of `positional`, `flag`, `flagifboolean`'],
  ['SC2 args of null', file({ execution: [{ ...execution, args: null }] }), 'SC1', 'execution[0].args: must be array'],
  ['S4 a root that is no object', '5', 'SC1', 'must be object'],
  ['S4 tools that are no array', file({ tools: {} }), 'SC1', 'tools: must be array'],
  ['S4 an allowlist that is no object', file({ allowlist: [] }), 'SC1', 'allowlist: must be object'],
  ['S4 an execution that is no array', file({ execution: null }), 'SC1', 'execution: must be array'],
  ['S7 a description that is no text', file({ tools: [{ ...tool, description: 5 }] }), 'SC1', 'tools[0].description: must be string or null'],
  ['S8 parameters that are no object', file({ tools: [{ ...tool, parameters: [] }] }), 'SC1', 'tools[0].parameters: must be object or null'],
  ['S9 subcommands that are no list', file({ allowlist: { show: 'run' } }), 'SC1', 'allowlist.show: must be array'],
  ['S9 a subcommand that is no text, whatever its binary is called', '{"allowlist": {"a\\nb": [5]}}', 'SC1', 'allowlist.a\nb[0]: must be string'],
  ['S18 a flag without a name', arg({ param: 'a', kind: 'flag', flag: '' }), 'SC1', 'execution[0].args[0].flag: must not be empty'],
  ['S32 resolver arguments that are no list', arg({ param: 'a', resolveCommand: { args: 'x' } }), 'SC1', 'execution[0].args[0].resolveCommand.args: must be array'],
  ['S6 a name that stands twice', file({ tools: [tool, tool] }), 'S6', 'tool[1] "probe": duplicate name'],
  ['S38 text that is no JSON', '{"tools": [}', 'S38', 'parse manifest: '],
  ['S38 a byte order mark', '\ufeff{}', 'S38', 'parse manifest: begins with a byte order mark'],
  ['S38 anything after the object', '{} x', 'S38', 'parse manifest: '],
  ['S38 deep nesting', `{"tools": ${'['.repeat(200)}${']'.repeat(200)}}`, 'S38', 'parse manifest: nested deeper than 100 levels']
]

for (const [title, content, rule, message] of refused) {
  t.test(`${title} refuses the file, and no other skill`, async t => {
    const { findings, tools, file } = await load(t, content)
    t.equal(findings.length, 1)
    const [finding] = findings
    t.match(finding, { severity: 'error', file, rule, fix: /./ })
    t.equal(finding?.message.slice(0, message.length), message)
    t.same(tools, ['sound'])
  })
}

t.test('S38 a skill whose tools.json is broken is skipped with its text', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': '{' })
  t.same((await fixture.load()).skills(), [])
})

t.test('S1 tools.json lies beside SKILL.md', async t => {
  const fixture = createFixture(t)
  const skill = fixture.skill('one', { 'other/tools.json': toolsFile() })
  t.same(names(await fixture.load()), [])
  writeFileSync(join(skill, 'tools.json'), JSON.stringify(toolsFile()))
  t.match((await fixture.load()).all()[0], { tool: { name: 'probe', source: { format: 'skill', file: join(skill, 'tools.json'), index: 0 } } })
})

t.test('S1 a path to the tools.json of a skill means the skill', async t => {
  const fixture = createFixture(t)
  const path = join(fixture.skill('one', { 'tools.json': toolsFile() }), 'tools.json')
  t.same(names(await fixture.load({}, [path])), ['probe'])
  rmSync(join(fixture.skills, 'one/SKILL.md'))
  t.match((await fixture.load({}, [path])).findings, [{ severity: 'error', rule: 'S1', file: path, message: 'this is the tools.json of a skill, but there is no SKILL.md beside it' }])
})

t.test('S1 a tools.json that is no text file of the skill is refused', async t => {
  const fixture = createFixture(t)
  symlinkSync('/etc/hostname', join(fixture.skill('link'), 'tools.json'))
  mkdirSync(join(fixture.skill('folder'), 'tools.json'))
  writeFileSync(join(fixture.skill('latin'), 'tools.json'), Buffer.from('{"tools": "\xe4"}', 'latin1'))
  writeFileSync(join(fixture.skill('large'), 'tools.json'), ' '.repeat(10_485_761))
  t.same(told((await fixture.load()).findings), [
    'error S1 tools.json is not a file',
    'error S1 tools.json is larger than 10485760 bytes',
    'error S1 tools.json is not UTF-8',
    'error S1 tools.json is a symbolic link out of the directory of the skill'
  ])
})

t.test('S2 S39 a skill without tools.json has a text and no tools', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'SKILL.md': '# One\n' })
  const registry = await fixture.load()
  t.match(registry.skills(), [{ name: 'one', text: '# One\n', tools: [] }])
  t.same(registry.all(), [])
  t.same(registry.findings, [])
})

t.test('S3 S4 S37 everything about a tool comes from tools.json', async t => {
  const fixture = createFixture(t)
  const directory = fixture.skill('one', {
    'tools.json': toolsFile([{ param: 'a', kind: 'flag' }], { tools: [{ name: 'probe', description: 'Probes.', parameters: { type: 'object', properties: { a: {} } } }] })
  })
  const registry = await fixture.load({ allowScripts: true })
  t.same(registry.findings, [])
  t.match(registry.skills(), [{ tools: [{ name: 'probe' }] }])
  t.same(registry.get('probe')?.tool, {
    name: 'probe',
    description: 'Probes.',
    parameters: { type: 'object', properties: { a: {} } },
    jobType: 'skill.probe',
    namespace: 'one',
    enabled: true,
    idempotent: false,
    source: { format: 'skill', file: join(directory, 'tools.json'), index: 0 },
    run: {
      kind: 'skill',
      directory,
      binary: 'show',
      subcommand: 'run',
      args: [{ kind: 'flag', param: 'a', flag: 'a', normalizeNewlines: false, allowDash: true }],
      allowlist: { show: ['run'] },
      allowScripts: true
    }
  })
})

t.test('S6 a tool without an execution is not served, its siblings are', async t => {
  const { findings, tools } = await load(t, file({ tools: [{ name: 'lost' }, tool] }))
  t.match(findings, [{ severity: 'error', rule: 'S6', index: 0, tool: 'lost', message: 'tool[0] "lost": no execution says how to run it' }])
  t.same(tools, ['probe', 'sound'])
})

t.test('S7 S8 R50 a description and parameters may be absent or null', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': file({ tools: [{ name: 'probe', description: null, parameters: null }] }) })
  t.match((await fixture.load()).get('probe')?.tool, { description: '', parameters: { type: 'object', properties: {} } })
})

t.test('S8 a tool whose parameters aren\'t a usable schema is not served, its siblings are', async t => {
  const { findings, tools } = await load(t, file({
    tools: [{ name: 'bad', parameters: { type: 'object', properties: { a: { pattern: '(' } } } }, tool],
    execution: [execution, { ...execution, tool: 'bad' }]
  }))
  t.match(findings, [{ severity: 'error', rule: 'S8', index: 0, tool: 'bad', message: /^tool\[0\] "bad": parameters has a pattern/ }])
  t.same(tools, ['probe', 'sound'])
})

t.test('S8 references to identifiers are followed in both forms of a skill', async t => {
  const declared = [{ name: 'probe', parameters: { type: 'object', properties: { a: { $id: 'A', items: { $ref: 'A' } } } } }]
  for (const files of [{ 'tools.json': file({ tools: declared }) }, threeFiles({ tools: declared })]) {
    const fixture = createFixture(t)
    fixture.skill('one', files)
    t.match((await fixture.load()).get('probe')?.tool.parameters, { properties: { a: { items: { $ref: '#/properties/a' } } } })
  }
})

t.test('S11 an execution for an undeclared tool is reported', async t => {
  const { findings, tools } = await load(t, file({ execution: [execution, { ...execution, tool: 'other' }] }))
  t.match(findings, [{ severity: 'error', rule: 'S11', tool: 'other', message: 'execution[1]: tools declare no "other"' }])
  t.same(tools, ['probe', 'sound'])
})

t.test('S11 a tool with two executions is not served', async t => {
  const { findings, tools } = await load(t, file({ execution: [execution, execution] }))
  t.match(findings, [{ severity: 'error', rule: 'S11', tool: 'probe', message: 'tool[0] "probe": more than one execution says how to run it' }])
  t.same(tools, ['sound'])
})

t.test('S12 SC3 a tool whose binary is not in the allowlist is not served', async t => {
  for (const allowlist of [{}, { other: ['run'] }]) {
    const { findings, tools } = await load(t, file({ allowlist }))
    t.match(findings, [{ severity: 'error', rule: 'S12', index: 0, tool: 'probe', message: 'tool[0] "probe": binary not allowlisted: show' }])
    t.same(tools, ['sound'])
  }
})

t.test('S13 SC3 a tool whose subcommand is not in the allowlist is not served', async t => {
  const { findings, tools } = await load(t, file({ allowlist: { show: ['other', 'run '] } }))
  t.match(findings, [{ severity: 'error', rule: 'S13', index: 0, tool: 'probe', message: 'tool[0] "probe": subcommand not allowlisted: show run' }])
  t.same(tools, ['sound'])
})

t.test('S15 an argument of a parameter that the schema does not declare is reported and served', async t => {
  const { findings, tools } = await load(t, arg({ param: 'qurey' }))
  t.match(findings, [{ severity: 'warning', rule: 'S15', tool: 'probe', message: 'tool[0] "probe": args[0]: parameters declare no property "qurey"' }])
  t.same(tools, ['probe', 'sound'])
})

t.test('SC2 null is the same as absent for optional fields', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', {
    'tools.json': toolsFile([
      { param: 'a', flag: null, flagIfTrue: null, flagIfFalse: null, normalizeNewlines: null, allowDash: null, resolveCommand: null },
      { param: 'b', resolveCommand: { script: 'x', binary: null, subcommand: null } }
    ])
  })
  const registry = await fixture.load()
  t.same(registry.findings, [])
  t.match(registry.get('probe')?.tool.run, {
    args: [{ kind: 'positional', allowDash: false, normalizeNewlines: false, resolver: undefined }, { resolver: { script: 'x', binary: undefined } }]
  })
})

t.test('SC3 tools, allowlist and execution are empty by default', async t => {
  const { findings, tools } = await load(t, {})
  t.same(findings, [])
  t.same(tools, ['sound'])
})

t.test('S41 tools are exported as function tools', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile() })
  t.same((await fixture.load()).published().map(({ tool }) => toolSpec(tool)), [
    { type: 'function', function: { name: 'probe', description: '', parameters: { type: 'object', properties: { a: {}, b: {} } } } }
  ])
})

t.test('X12 a name that models do not accept is loaded, reported and not published', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': file({ tools: [{ name: 'Sub Command' }], execution: [{ ...execution, tool: 'Sub Command' }] }) })
  const registry = await fixture.load()
  t.match(registry.findings, [{ severity: 'warning', rule: 'X12', tool: 'Sub Command' }])
  t.same(registry.published(), [])
  t.same(await fixture.call(registry, 'Sub Command', {}), { ok: true, output: 'run\0' })
  t.match(registry.get('Sub Command')?.tool.jobType, /^skill\.sub-command\.[0-9a-f]{16}$/)
})

t.test('SC27 a list alone is the newest form without its other files, and is refused', async t => {
  const { findings, tools } = await load(t, '[{"name": "probe", "description": "", "parameters": {}}]')
  t.match(findings.map(({ severity, rule }) => `${severity} ${rule}`), ['error SN2', 'error SN2'])
  t.same(tools, ['sound'])
})
