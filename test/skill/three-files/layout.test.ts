import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture, names } from '../fixture.ts'
import { load, threeFiles } from './fixture.ts'

const skillMd = (lines: string): string => `---\ndescription: One.\n${lines}\n---\n# One\n`

t.test('SN1 a tools.json that is a list is read with allowlist.json and execution.json beside it', async t => {
  const { call, findings } = await load(t, { args: [{ param: 'a' }] })
  t.same(findings.filter(({ rule }) => rule !== 'SN7'), [])
  t.match(await call({ a: 'x' }), { ok: true, output: 'run\0x\0' })
  t.equal((await load(t, { files: { 'tools.json': { tools: [] } } })).findings[0]?.message, 'tools.json is no list, but beside it is allowlist.json and execution.json')
})

t.test('SN2 a file that is missing or broken leaves the skill out, and the others are served', async t => {
  const cases: Array<[file: string, content: string | undefined, message: RegExp]> = [
    ['allowlist.json', undefined, /^tools\.json is a list, so the skill needs allowlist\.json as well/],
    ['execution.json', undefined, /^tools\.json is a list, so the skill needs execution\.json as well/],
    ['execution.json', '{}', /^execution\.json must be a list of executions/],
    ['allowlist.json', '[]', /^allowlist\.json must be an object of lists/],
    ['execution.json', '[{"tool": "probe", "tool": "probe"}]', /^duplicate field `tool` at line 1/],
    ['tools.json', '[{', /^parse manifest: /]
  ]
  for (const [file, content, message] of cases) {
    const fixture = createFixture(t)
    fixture.skill('two', threeFiles({ tools: [{ name: 'sound' }], executions: [{ tool: 'sound', binary: 'show', subcommand: 'run' }] }))
    fixture.skill('one', { ...threeFiles({}), [file]: content })
    const registry = await fixture.load()
    t.match(registry.findings, [{ severity: 'error', rule: 'SN2', message, file: join(fixture.skills, 'one', file) }])
    t.same(names(registry), ['sound'])
  }
})

t.test('SN2 a tool whose entry is broken is told and left out, its siblings are served', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', threeFiles({ tools: [{ name: 'probe' }, { name: 7 }, { name: 'bad', parameters: { type: 'nothing' } }] }))
  const registry = await fixture.load()
  t.same(registry.published().map(({ tool }) => tool.name), ['probe'])
  t.match(registry.findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule), ['SN2', 'S8'])
})

t.test('SN3 an unknown field of a tool is a warning, and the tool is served', async t => {
  const { findings, unavailable } = await load(t, { tool: { permissions: ['network'] } })
  t.equal(unavailable, undefined)
  t.match(findings.filter(({ rule }) => rule === 'SN3'), [{ severity: 'warning', message: /"permissions" is no known field and is ignored/ }])
})

t.test('SN4 an unknown field, kind or value of an execution or an argument makes its tool unavailable', async t => {
  const reasons = await Promise.all([
    load(t, { execution: { onlyOnSundays: true } }),
    load(t, { args: [{ param: 'a', denyRegex: 'x' }] }),
    load(t, { args: [{ param: 'a', kind: 'flagIfBoolean' }] }),
    load(t, { args: [{ param: 'a', readPath: 'yes' }] }),
    load(t, { args: [{ kind: 'flag' }] })
  ])
  t.match(reasons.map(({ unavailable }) => unavailable), [
    /^execution\[0\]: unknown field `onlyOnSundays`.*: it may be a protection$/,
    /^execution\[0\]: args\[0\]: unknown field `denyRegex`.*: it may be a protection$/,
    /^execution\[0\]: args\[0\]\.kind: expected one of/,
    /^execution\[0\]: args\[0\]\.readPath: must be boolean or null$/,
    /names no param$/
  ])
  const { fixture, findings, call } = reasons[0] ?? t.fail()
  t.match(findings, [{ severity: 'error', rule: 'SN4', tool: 'probe', file: join(fixture.skills, 'one/execution.json') }])
  t.match(await call(), { ok: false }, 'nothing of it runs, whoever asks')
})

t.test('SN4 a protection that an argument of that kind does not know makes the tool unavailable', async t => {
  for (const argument of [
    { kind: 'stdin', readPath: true }, { kind: 'tempfile', writePath: true }, { kind: 'flagifboolean', readPath: true }, { kind: 'flag', split: true },
    { kind: 'literal', value: 'x', denyPattern: 'x' }, { kind: 'positional', subcommandOverride: 'other' }, { kind: 'flagifboolean', denyPattern: 'x' }
  ]) t.not((await load(t, { args: [{ param: 'a', ...argument }] })).unavailable, undefined, JSON.stringify(argument))
})

t.test('SN5 an entry of the allowlist that is no list makes the tools of its program unavailable', async t => {
  const { unavailable } = await load(t, { allowlist: { show: { run: { maxCalls: 1 } } } })
  t.match(unavailable, /^execution\[0\]: allowlist\.json has something for "show" that is no list of subcommands/)
  t.match((await load(t, { allowlist: { other: { x: 1 } } })).unavailable, undefined, 'those of other programs are served')
  t.match((await load(t, { args: [{ param: 'a', resolveCommand: { binary: 'other', subcommand: 'x' } }], allowlist: { other: { x: 1 } } })).unavailable, /for "other"/, 'also where it resolves a value')
})

t.test('SN6 a pair that is not in the allowlist makes its tool unavailable', async t => {
  t.equal((await load(t, { execution: { subcommand: 'runs' } })).unavailable, 'execution[0]: subcommand not allowlisted: show runs')
  t.equal((await load(t, { execution: { binary: 'toString' } })).unavailable, 'execution[0]: binary not allowlisted: toString')
  t.equal((await load(t, { executions: [] })).unavailable, 'no execution says how to run it')
})

t.test('SN7 parameters that the schema does not have are refused, also where it does not say so', async t => {
  const { fixture, findings } = await load(t, { args: [{ param: 'z' }] })
  const registry = await fixture.load()
  t.equal(registry.get('probe')?.tool.parameters['additionalProperties'], false)
  t.match(findings.map(({ rule, message }) => `${rule} ${message}`).join('\n'), /SN7 .*declare no property "z"[^]*SN7 .*no argument uses the parameter "a"/)
})

t.test('SN34 the first list of alternatives all of whose programs are there chooses the execution', async t => {
  const fixture = createFixture(t)
  fixture.program('tool-b', '')
  const executions = [0, 1].map(binGroup => ({ tool: 'probe', binary: 'show', subcommand: 'run', args: [{ kind: 'literal', value: `group ${binGroup}` }], condition: { binGroup } }))
  const files = (bins: string) => threeFiles({ executions, files: { 'SKILL.md': skillMd(`metadata: {requires: {bins: ${bins}}}`) } })
  fixture.skill('one', files('[[tool-a], [tool-b, show]]'))
  t.match(await fixture.call(await fixture.load(), 'probe', {}), { output: 'run\0group 1\0' })
  fixture.program('tool-a', '')
  t.match(await fixture.call(await fixture.load(), 'probe', {}), { output: 'run\0group 0\0' })
  fixture.skill('one', files('[show]'))
  t.match((await fixture.load()).get('probe')?.tool.unavailable, /^no execution is for the programs that this machine has/, 'a plain list has no groups')
  fixture.skill('one', files('[[tool-c], [tool-d, show]]'))
  t.match((await fixture.load()).findings, [{ rule: 'SC22', message: 'skill "one" is skipped: it needs tool-c, or tool-d and show' }])
  fixture.skill('one', files('[show, [tool-a]]'))
  t.match((await fixture.load()).findings, [{ rule: 'SN34', message: /names and lists side by side/ }])
})

t.test('SN36 capability_tier and variant_of switch nothing; a wrong tier, and a variant beside its skill, are told', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', threeFiles({ files: { 'SKILL.md': skillMd('capability_tier: full') } }))
  t.same((await fixture.load()).findings.filter(({ rule }) => rule === 'SN36'), [])
  fixture.skill('one-read', threeFiles({ files: { 'SKILL.md': skillMd('capability_tier: huge\nvariant_of: one') } }))
  const registry = await fixture.load()
  t.match(registry.findings.filter(({ rule }) => rule === 'SN36').map(({ message }) => message), [
    'front matter: capability_tier is none of minimal, moderate and full', 'skill "one-read" is a variant of "one", which is served as well; both have probe'
  ])
  t.equal(registry.skills()[1]?.frontMatter['capability_tier'], 'huge')
})

t.test('SN37 the active version of a skill is read, under the name of its directory, and another one when active changes', async t => {
  const fixture = createFixture(t)
  const versions = join(fixture.skills, 'git', 'versions')
  for (const version of ['1f41', '2a52']) {
    fixture.skill(version, threeFiles({ args: [{ kind: 'literal', value: version }] }))
    mkdirSync(versions, { recursive: true })
    renameSync(join(fixture.skills, version), join(versions, version))
  }
  const active = join(fixture.skills, 'git', 'active')
  symlinkSync('versions/1f41', active)
  const registry = await fixture.load()
  t.same(registry.skills().map(({ name, file }) => [name, file]), [['git', join(versions, '1f41/SKILL.md')]])
  t.match(await fixture.call(registry, 'probe', {}), { output: 'run\x001f41\0' })
  t.ok(registry.files.includes(active), 'the link is looked at for changes')
  rmSync(active)
  writeFileSync(active, '2a52\n')
  t.match(await fixture.call(await fixture.load(), 'probe', {}), { output: 'run\x002a52\0' }, 'a file that names it will do')
  t.match(await fixture.call(await fixture.load({}, [join(fixture.skills, 'git')]), 'probe', {}), { ok: true }, 'also when the directory is named')
})

t.test('SN37 a version whose files are not those that it is named after is told of', async t => {
  const fixture = createFixture(t)
  const files = threeFiles({ files: { 'scripts/run.sh': 'exit\n', 'scripts/a-b': 'x' } })
  const made = fixture.skill('made', files)
  // As the format has it: each path, a NUL, and what is in the file, in the order of the paths.
  const hash = createHash('sha256')
  for (const path of ['SKILL.md', 'allowlist.json', 'execution.json', 'scripts/a-b', 'scripts/run.sh', 'tools.json']) hash.update(`${path}\0`).update(readFileSync(join(made, path)))
  const version = join(fixture.skills, 'git/versions', hash.digest('hex').slice(0, 12))
  mkdirSync(join(fixture.skills, 'git/versions'), { recursive: true })
  renameSync(made, version)
  symlinkSync(version, join(fixture.skills, 'git/active'))
  const told = async (): Promise<unknown[]> => (await fixture.load()).findings.filter(({ rule }) => rule === 'SN37')
  t.same(await told(), [])
  writeFileSync(join(version, 'scripts/run.sh'), 'rm -r .\n')
  t.match(await told(), [{ severity: 'warning', file: version, message: /^the files of this version are not those that it is named after: their hash is [0-9a-f]{12}$/ }])
})

t.test('SN37 an active that leads out of versions/, or nowhere, is an error', async t => {
  const fixture = createFixture(t)
  const git = join(fixture.skills, 'git')
  mkdirSync(join(git, 'versions'), { recursive: true })
  fixture.skill('elsewhere')
  for (const target of ['../elsewhere', 'versions', 'versions/none', '/etc', 'versions/../../elsewhere']) {
    rmSync(join(git, 'active'), { force: true })
    symlinkSync(target, join(git, 'active'))
    const registry = await fixture.load()
    t.match(registry.findings, [{ severity: 'error', rule: 'SN37', message: /^active names no directory in versions\// }], target)
    t.same(registry.skills().map(({ name }) => name), ['elsewhere'])
  }
})
