import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { validateManifests, type Finding } from '@toolyard/manifests'
import { createFixture, names, toolsFile, type Json, type SkillFiles, type SkillFixture } from './fixture.ts'

/** A validation of one skill, whose files are laid out with a line for each value. */
async function validate (
  t: Test, files: SkillFiles, change?: (directory: string) => void
): Promise<{ ok: boolean, findings: readonly Finding[], told: string[], fixture: SkillFixture }> {
  const fixture = createFixture(t)
  const content = files['tools.json']
  const directory = fixture.skill('one', typeof content === 'object' ? { ...files, 'tools.json': JSON.stringify(content, null, 1) } : files)
  change?.(directory)
  const { ok, findings } = await validateManifests([fixture.skills], { skills: { path: `${fixture.bin}:/usr/bin:/bin`, allowScripts: true } })
  const told = findings.filter(({ rule }) => !rule.startsWith('lint/')).map(({ file, line, severity, rule, message }) => `${file.slice(directory.length + 1)}:${line} ${severity} ${rule} ${message}`)
  return { ok, findings, told, fixture }
}

const [tool, execution] = [{ name: 'probe', parameters: {} }, { tool: 'probe', binary: 'show', subcommand: 'run' }]
const file = (change: Json): Json => ({ tools: [tool], allowlist: { show: ['run'] }, execution: [execution], ...change })
const skillMd = (yaml: string): string => `---\n${yaml}\n---\n\nbody\n`

t.test('PC6 SC1 a validation reports every fault of a skill\'s structure, each with its line', async t => {
  const { ok, told } = await validate(t, {
    'SKILL.md': skillMd('name: 5\ndescription: [x]'),
    'tools.json': file({ tools: [{ ...tool, optional: true, sandbox: false }, { parameters: [] }], execution: [{ ...execution, args: [{ param: 'a', kind: 'stdin', writePath: true }] }] })
  })
  t.notOk(ok)
  t.match(told, [
    'SKILL.md:2 error SC22 front matter: name: must be string or null',
    'SKILL.md:3 error SC22 front matter: description: must be string or null',
    /^tools\.json:6 error SC1 tools\[0\]: unknown field `optional`, expected one of `name`/,
    /^tools\.json:7 error SC1 tools\[0\]: unknown field `sandbox`, expected one of `name`/,
    'tools.json:9 error SC1 tools[1]: missing field `name`',
    'tools.json:10 error SC1 tools[1].parameters: must be object or null',
    'tools.json:26 error SC2 execution[0].args[0].kind: expected one of `positional`, `flag`, `flagifboolean`',
    /^tools\.json:27 error SC1 execution\[0\]\.args\[0\]: unknown field `writePath`/
  ])
  t.equal(told.length, 8)
})

t.test('PC6 S12 a validation reports every fault of a tool and of its siblings, each with its line', async t => {
  const { told } = await validate(t, {
    'tools.json': file({
      tools: [tool, tool, { name: 'lost', parameters: { properties: { a: { pattern: '(' } } } }],
      execution: [{ ...execution, binary: 'gone', args: [{ param: 'x', resolveCommand: { script: 'none', binary: 'other', subcommand: 'run' } }] }, { ...execution, tool: 'nobody' }]
    })
  })
  t.match(told.map(line => line.replace(/:\d+ /, ' ')).sort(), [
    'tools.json error S11 execution[1]: tools declare no "nobody"',
    'tools.json error S12 tool[0] "probe": binary not allowlisted: gone',
    'tools.json error S12 tool[1] "probe": binary not allowlisted: gone',
    'tools.json error S6 tool[1] "probe": duplicate name',
    'tools.json error S6 tool[2] "lost": no execution says how to run it',
    /^tools\.json error S8 tool\[2\] "lost": parameters has a pattern that is not a valid regular expression/,
    'tools.json error SC12 tool[0] "probe": args[0]: resolveCommand: program "other" is not installed here, so it never runs',
    'tools.json error SC12 tool[0] "probe": program "gone" is not installed here',
    /SC12 tool\[1\]/, /SC12 tool\[1\]/,
    'tools.json warning S15 tool[0] "probe": args[0]: parameters declare no property "x"',
    /warning S15 tool\[1\]/,
    'tools.json warning S27 tool[0] "probe": args[0]: resolveCommand: scripts/ has no "none", so it never runs',
    /warning S27 tool\[1\]/,
    /warning S30 tool\[0\] "probe": args\[0\]: resolveCommand: binary not allowlisted: other/,
    /warning S30 tool\[1\]/
  ])
  t.ok(told.every(line => /:\d+ /.test(line)), 'each has its line')
})

t.test('S8 a default that does not fit its property is a warning', async t => {
  const { told } = await validate(t, { 'tools.json': file({ tools: [{ ...tool, parameters: { type: 'object', properties: { a: { type: 'string', default: 5 } } } }] }) })
  t.match(told, [/^tools\.json:\d+ warning S8 tool\[0\] "probe": parameters: the default of "a" does not fit it: it is not filled in$/])
})

t.test('SC22 a skill that is skipped for a missing program is an error to a validation, beside the faults of its tools', async t => {
  const { ok, told, fixture } = await validate(t, { 'SKILL.md': skillMd('metadata:\n  requires:\n    bins: [no-such]'), 'tools.json': file({ extra: 1 }) })
  t.notOk(ok)
  t.match(told, ['SKILL.md:4 error SC22 skill "one" is skipped: it needs no-such', /^tools\.json:\d+ error SC1 unknown field `extra`/])
  t.match((await fixture.load()).findings, [{ severity: 'warning', rule: 'SC22' }], 'the service warns: a program may come')
})

t.test('SC22 requirements that are never read, and alternatives, are reported with the remedy', async t => {
  const { findings } = await validate(t, { 'SKILL.md': skillMd('requires: {bins: [x]}\nmetadata:\n  openclaw: {requires: {bins: [x]}}\n  requires: {bin: [x], anyBins: [vim, nano], env: [KEY], bins: [vim|nano]}') })
  t.match(findings.map(({ message, fix }) => `${message} -> ${fix}`), [
    /^front matter: requires is not looked at -> Write it as metadata\.requires\.bins/,
    /^front matter: metadata\.openclaw\.requires is not looked at -> Write the programs/,
    /^front matter: metadata\.requires\.bin is not looked at -> Write bins\./,
    /^front matter: metadata\.requires\.anyBins is not looked at -> Write alternatives as lists in bins/,
    /^front matter: metadata\.requires\.env is not looked at -> Only bins is read/,
    /^skill "one" is skipped: it needs vim\|nano -> Name each program by itself, and alternatives as lists/
  ])
  const lists = await validate(t, { 'SKILL.md': skillMd('metadata: {requires: {bins: [{vim: nano}]}}') })
  t.match(lists.findings, [{ line: 2, message: 'front matter: metadata.requires.bins[0]: must be string or array', fix: /^List names of programs, all of which are needed, or lists of such names/ }])
})

t.test('SC27 a field of the form with three files is reported with what to write instead', async t => {
  const arg = { param: 'a', writePath: true, postProces: {}, Flag: 'x' }
  const { findings } = await validate(t, { 'tools.json': file({ execution: [{ ...execution, args: [arg, { param: 'b', kind: 'flagIfBoolean' }, { param: 'c', kind: 'literal' }] }] }) })
  const fixOf = (name: string): string | undefined => findings.find(({ path }) => path?.at(-1) === name)?.fix
  t.match(fixOf('writePath'), /^It is of the form with three files: make tools\.json the list/)
  t.match(fixOf('Flag'), 'Write flag.')
  t.match(fixOf('postProces'), /^Remove the field, or correct its name/)
  t.match(findings.filter(({ rule }) => rule === 'SC2').map(({ fix }) => fix), ['Write flagifboolean.', /^It is of the form with three files/])
})

t.test('SN1 SN2 files of both forms side by side are reported, also where the file is named', async t => {
  const files = { 'allowlist.json': {}, 'execution.json': '{}' }
  const { told, fixture } = await validate(t, { 'tools.json': '[{"name": "probe"}]', ...files })
  t.match(told, ['execution.json:1 error SN2 execution.json must be a list of executions'])
  t.match((await fixture.load({}, [join(fixture.skills, 'one/tools.json')])).findings, [{ rule: 'SN2' }])
  t.match((await validate(t, { 'tools.json': { tools: [tool] }, ...files })).told, [/ error SN1 tools\.json is no list, but beside it is allowlist\.json and execution\.json/])
  t.match((await validate(t, { 'tools.json': toolsFile(), ...files })).ok, true, 'one file with all of it is whole')
})

t.test('SN4 what a validation finds in execution.json has its line there, and fails it', async t => {
  const { ok, told } = await validate(t, { 'tools.json': '[{"name": "probe"}]', 'allowlist.json': { show: ['run'] }, 'execution.json': JSON.stringify([{ ...execution, args: [{ param: 'a', sometimes: 1 }] }], null, 1) })
  t.notOk(ok)
  t.match(told, [/^execution\.json:\d* ?error SN4 tool\[0\] "probe": execution\[0\]: args\[0\]: unknown field `sometimes`/])
})

t.test('SN37 a directory with a SKILL.md of its own is read, and its versions are not', async t => {
  const { findings } = await validate(t, {}, directory => {
    mkdirSync(join(directory, 'versions/1f41'), { recursive: true })
    symlinkSync('versions/1f41', join(directory, 'active'))
  })
  t.match(findings.filter(({ rule }) => rule === 'SN37'), [{ severity: 'warning', message: /its versions are not read/ }])
})

t.test('SC21 the explanation of a tool says that its skill was replaced', async t => {
  const fixture = createFixture(t)
  fixture.skill('a', { 'SKILL.md': skillMd('name: notes'), 'tools.json': toolsFile() })
  fixture.skill('b', { 'SKILL.md': skillMd('name: notes') })
  const registry = await fixture.load()
  t.same(names(registry), [])
  t.match(registry.explain('probe'), { name: 'probe', tool: undefined, steps: [{ layer: 0, did: 'left out', file: join(fixture.skills, 'a/tools.json'), because: `skill "notes" is replaced by the one of ${join(fixture.skills, 'b/SKILL.md')}` }] })
})

t.test('a validation notes a skill whose name MCP does not take, and one without', async t => {
  const fixture = createFixture(t)
  for (const [at, name] of ['', 'name: My Skill\n', 'name: a--b\n', 'name: s3\n'].entries()) fixture.skill(`s${at}`, { 'SKILL.md': skillMd(`${name}description: Reads mail`) })
  const { ok, findings } = await validateManifests([fixture.skills])
  t.ok(ok)
  t.same(findings.map(({ severity, message }) => `${severity} ${message}`), ['there is no name', '"My Skill" is no name of an Agent Skill', '"a--b" is no name of an Agent Skill']
    .map(what => `note front matter: ${what}, so MCP doesn't serve its files`))
})
