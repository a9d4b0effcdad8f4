import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { admitCall, programDigest, providerTools, skillsPrompt, toolOfCall, type Registry } from '@toolyard/manifests'
import type { Outcome } from '@toolyard/executors'
import { createFixture, names, type SkillFixture } from './fixture.ts'

const text = (name: string, more = ''): string => `---\nname: ${name}\ndescription: Does what ${name} is for.\n${more}---\n# ${name}\n\nRun \`scripts/show.sh\`.\n`
/* eslint-disable no-template-curly-in-string -- Texts for shells. */
/** A skill of the shape that people publish. */
const published = {
  'SKILL.md': text('letters'),
  'references/forms.md': '# Forms\n',
  'assets/logo.bin': '\u0000',
  'scripts/show.sh': '#!/bin/sh\nprintf \'%s|\' "$@" "$(cat)" "${SKILL_DIR##*/}"\n',
  'scripts/deep/nested.py': 'import os, sys\nprint(os.path.basename(os.getcwd()), sys.argv[1:])\n',
  'scripts/crlf.sh': '#!/bin/sh\r\necho hello\r\n',
  'scripts/unknown': 'hello\n', 'scripts/inherited': '#!/usr/bin/env constructor\n',
  'scripts/beside.sh': '#!/bin/sh\necho made > "$(dirname "$0")/made" && cat "$(dirname "$0")/made"\n'
}
const on = { allowScripts: true, programs: ['show', 'python3'] }

async function letters (t: Parameters<typeof createFixture>[0], options: Parameters<SkillFixture['load']>[0] = on, layer?: object): Promise<{ fixture: SkillFixture, registry: Registry, run: (args: object) => Promise<unknown> }> {
  const fixture = createFixture(t)
  fixture.skill('office/letters', published)
  const file = join(fixture.base, 'layer.json')
  if (layer !== undefined) writeFileSync(file, JSON.stringify({ tools: [{ skill: 'letters', ...layer }] }))
  const registry = await fixture.load(options, [fixture.skills, ...layer === undefined ? [] : [file]])
  return { fixture, registry, run: async args => shown(await fixture.call(registry, 'skill_run', { skill: 'letters', ...args })) }
}

function shown (outcome: Outcome): unknown {
  return outcome.ok ? outcome.output : `${outcome.error.code} ${outcome.error.message}`
}

t.test('a skill with files is read and run by three tools, whose list of skills every form of a provider has', async t => {
  const { registry } = await letters(t)
  t.same(registry.findings, [])
  t.same(names(registry), ['activate_skill', 'read_skill', 'skill_run'])
  const tool = registry.get('activate_skill')?.tool
  if (tool === undefined) throw new Error('there is no activate_skill')
  for (const format of ['chat', 'responses', 'anthropic'] as const) t.match(JSON.stringify(providerTools(format, false)(tool)), /- letters: Does what letters is for\./)
  t.match(skillsPrompt(registry.skills(), 'readOnDemand'), /- \*\*letters\*\*: Does what letters is for\./)
})

t.test('a skill that its author keeps for people is offered to no model; its files are read and its programs run', async t => {
  const { fixture } = await letters(t)
  fixture.skill('office/deploy', { 'SKILL.md': text('deploy', 'disable-model-invocation: true\n'), 'scripts/show.sh': '#!/bin/sh\necho shown\n' })
  const both = await fixture.load(on)
  t.strictSame([both.findings, both.skills().map(({ name }) => name)], [[], ['deploy', 'letters']])
  for (const mode of ['full', 'readOnDemand'] as const) t.notMatch(skillsPrompt(both.skills(), mode), /deploy/)
  t.notMatch(JSON.stringify(both.get('activate_skill')?.tool), /deploy/)
  t.match(await fixture.call(both, 'skill_run', { skill: 'deploy', argv: ['scripts/show.sh'] }), { ok: true, output: 'shown\n' })
  const alone = await fixture.load(on, [join(fixture.skills, 'office/deploy')])
  t.same([names(alone), skillsPrompt(alone.skills(), 'full')], [['read_skill', 'skill_run'], ''])
})

t.test('a description that lists many skills stays as short as providers take it', async t => {
  const fixture = createFixture(t)
  for (let at = 0; at < 40; at++) fixture.skill(`skill-${at}`, { 'SKILL.md': `---\nname: skill-${at}\ndescription: ${'long '.repeat(150)}\n---\n`, 'scripts/a.sh': '' })
  const registry = await fixture.load(on)
  for (const { tool } of registry.all()) t.ok(tool.description.length < 1_024, `${tool.name} has ${tool.description.length}`)
})

t.test('skills that do not fit into the description of activate_skill are described where it takes their names', async t => {
  const fixture = createFixture(t)
  for (let at = 0; at < 20; at++) fixture.skill(`skill-${at}`, { 'SKILL.md': `---\nname: skill-${at}\ndescription: Does what number ${at} is for. ${'long '.repeat(150)}\n---\n`, 'scripts/a.sh': '' })
  const registry = await fixture.load(on)
  const tool = registry.get('activate_skill')?.tool
  if (tool === undefined) throw new Error('there is no activate_skill')
  for (const format of ['chat', 'responses', 'anthropic'] as const) t.match(JSON.stringify(providerTools(format, false)(tool)), /- skill-19: Does what number 19 is for\. long/)
})

t.test('what an interpreter is to run may lie anywhere in the skill; a file of the caller of that name comes first', async t => {
  const { fixture, run } = await letters(t)
  mkdirSync(join(fixture.skills, 'office/letters/tools'))
  writeFileSync(join(fixture.skills, 'office/letters/tools/x.py'), 'import sys\nprint("of the skill", sys.argv[1:])\n')
  t.equal(await run({ argv: ['python3', 'tools/x.py', 'tools/x.py'] }), 'of the skill [\'tools/x.py\']\n', 'the next argument is left as it is')
  t.equal(await run({ argv: ['python3', '-u', './tools/x.py'] }), 'of the skill []\n')
  t.match(await run({ argv: ['python3', '-c', 'import sys; print(sys.argv)', 'tools/x.py'] }), /'tools\/x\.py'/)
  t.match(await run({ argv: ['tools/x.py'] }), /^NOT_ALLOWED/, 'by itself only what is in scripts/')
  t.match(await run({ argv: ['python3', '../letters/tools/x.py'] }), /No such file/)
  mkdirSync(join(fixture.workspace, 'tools'))
  writeFileSync(join(fixture.workspace, 'tools/x.py'), 'print("of the caller")\n')
  t.equal(await run({ argv: ['python3', 'tools/x.py'] }), 'of the caller\n')
})

t.test('texts of skills that are too long for a prompt are read on demand', async t => {
  const fixture = createFixture(t)
  for (const name of ['one', 'two']) fixture.skill(name, { 'SKILL.md': `${text(name)}${'x'.repeat(40_000)}`, 'references/a.md': '' })
  const skills = (await fixture.load()).skills()
  t.ok(skillsPrompt(skills, 'full').length < 1_000)
})

t.test('activate_skill gives the text, the files, and how programs are run', async t => {
  const { fixture, registry } = await letters(t)
  const output = shown(await fixture.call(registry, 'activate_skill', { name: 'letters' }))
  t.match(output, /^# letters\n/)
  t.match(output, /\n- references\/forms\.md \(8 bytes\)\n/)
  t.match(output, /skill_run, such as \{"skill":"letters","argv":\["scripts\/NAME","ARGUMENT"\]\}/)
  t.notMatch(output, /SKILL\.md \(/)
  const off = await letters(t, {})
  t.match(shown(await off.fixture.call(off.registry, 'activate_skill', { name: 'letters' })), /the operator switches them on with SKILLS_ALLOW_SCRIPTS=1/)
})

t.test('programs of skills do not run where scripts are not allowed, and the message says how they would', async t => {
  const { registry } = await letters(t, {})
  const admitted = await admitCall({ tool: 'skill_run', registered: registry.get('skill_run'), key: { queues: undefined, permissions: undefined } }, { skill: 'letters', argv: ['scripts/show.sh'] }, { jobTypes: { get: () => ({}) }, permissions: { allowed: [], defaults: [] } })
  t.match(admitted, { error: { code: 'TOOL_UNAVAILABLE', message: /SKILLS_ALLOW_SCRIPTS=1/ } })
})

t.test('read_skill reads files of a skill by their paths, also by links in it, and lists directories', async t => {
  const { fixture, registry } = await letters(t)
  const directory = join(fixture.skills, 'office/letters')
  symlinkSync('references/forms.md', join(directory, 'linked.md'))
  symlinkSync('/etc/hostname', join(directory, 'stolen.md'))
  symlinkSync('/etc', join(directory, 'etc'))
  const read = async (path?: string): Promise<unknown> => shown(await fixture.call(registry, 'read_skill', { skill_name: 'letters', ...path !== undefined && { path } }))
  t.match(await read(), /^# letters\n/)
  for (const path of ['references/forms.md', './references/forms.md', 'linked.md', '$SKILL_DIR/references/forms.md', '/skills/letters/references/forms.md']) t.equal(await read(path), '# Forms\n', path)
  t.equal(await read('scripts'), 'beside.sh\ncrlf.sh\ndeep/\ninherited\nshow.sh\nunknown')
  t.match(await read('.'), /references\//)
  for (const path of ['stolen.md', 'etc/hostname', '../../../layer.json', '/etc/hostname', 'none.md', '.git/config', 'a\0b']) t.match(await read(path), /^TOOL_FAILED the skill has no file /, path)
})

t.test('no path leads out of a skill', async t => {
  const { fixture, registry } = await letters(t)
  writeFileSync(join(fixture.base, 'secret'), 'hunter2')
  const step = fc.constantFrom('..', '.', '', 'references', 'scripts', 'secret', 'skills', '/', 'office', '~', '$SKILL_DIR', '\u0000', 'skills/letters')
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.constantFrom('', '/', '../../../', '/skills/letters/'), async (steps, start) => {
    const outcome = await fixture.call(registry, 'read_skill', { skill_name: 'letters', path: `${start}${steps.join('/')}` })
    return !JSON.stringify(outcome).includes('hunter2')
  }), { numRuns: 300 })
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 8 }), async steps => {
    const outcome = await fixture.call(registry, 'skill_run', { skill: 'letters', argv: [`scripts/${steps.join('/')}`] })
    return !outcome.ok && ['NOT_ALLOWED', 'INVALID_ARGUMENTS'].includes(outcome.error.code)
  }), { numRuns: 100 })
})

t.test('skill_run runs scripts by their own first lines or names, in the workspace, with stdin', async t => {
  const { run } = await letters(t)
  t.equal(await run({ argv: ['scripts/show.sh', 'a b', '$HOME', '--x'], stdin: 'in' }), 'a b|$HOME|--x|in|letters|')
  t.equal(await run({ argv: ['./scripts/deep/nested.py', 'x'] }), 'workspace [\'x\']\n')
  t.equal(await run({ argv: ['python3', 'scripts/deep/nested.py', 'y'] }), 'workspace [\'y\']\n', 'files of the skill are known by their names in it')
  t.equal(await run({ argv: ['python', '$SKILL_DIR/scripts/deep/nested.py'] }), 'workspace []\n', 'where python is only known as python3')
  t.equal(await run({ argv: ['show', 'scripts/none', 'references/forms.md'] }), 'scripts/none\0references/forms.md\0')
})

t.test('a script of the caller imports modules of the skill, and Python knows itself also where it is called python', async t => {
  const { fixture, run } = await letters(t)
  mkdirSync(join(fixture.skills, 'office/letters/core'))
  writeFileSync(join(fixture.skills, 'office/letters/core/words.py'), 'text = "of the skill"\n')
  writeFileSync(join(fixture.workspace, 'mine.py'), 'from core.words import text\nimport os, subprocess, sys\nprint(text, subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout, os.environ["NODE_PATH"].endswith("/lib/node_modules"))\n')
  t.equal(await run({ argv: ['python', 'mine.py'] }), 'of the skill b\'1\\n\' True\n')
})

t.test('a call of skill_run has the timeout of its skill, also a longer one than others have', async t => {
  const { fixture } = await letters(t)
  fixture.skill('numbers', { 'SKILL.md': text('numbers'), 'scripts/a.sh': '' })
  const file = join(fixture.base, 'layer.json')
  writeFileSync(file, JSON.stringify({ tools: [{ skill: 'letters', timeoutSec: 120 }] }))
  const tool = (await fixture.load(on, [fixture.skills, file])).get('skill_run')?.tool
  if (tool === undefined) throw new Error('there is no skill_run')
  const timeoutOf = (skill: string): number | undefined => toolOfCall(tool, { skill }).timeoutSec
  t.same([tool.timeoutSec, timeoutOf('letters'), timeoutOf('numbers'), timeoutOf('toString')], [undefined, 120, undefined, undefined])
})

t.test('skill_run says why it runs nothing', async t => {
  const { run } = await letters(t)
  t.match(await run({ argv: ['sh', '-c', 'id'] }), /^NOT_ALLOWED program "sh" is not in SKILL_PROGRAMS: argv\[0\] is a file in the skill's scripts\/, or one of show, python3$/)
  t.match(await run({ argv: ['scripts/none.py'] }), /^NOT_ALLOWED the skill has no script "scripts\/none\.py"/)
  t.match(await run({ argv: ['/bin/sh'] }), /^NOT_ALLOWED the skill has no script "\/bin\/sh"/)
  t.match(await run({ argv: ['references/forms.md'] }), /^NOT_ALLOWED the skill has no script/)
  t.match(await run({ argv: ['scripts/crlf.sh'] }), /^TOOL_UNAVAILABLE script "scripts\/crlf\.sh" can't run: its lines end with CR LF/)
  t.match(await run({ argv: ['scripts/unknown'] }), /^TOOL_UNAVAILABLE script "scripts\/unknown" can't run: its first line names no program/)
  t.match(await run({ argv: ['scripts/inherited'] }), /^TOOL_UNAVAILABLE program "constructor" is not on this machine/)
  t.match([await run({}), await run({ command: 'id' })], [/^INVALID_ARGUMENTS give argv$/, /SKILLS_SHELL=1/])
  t.match(await run({ skill: 'other', argv: ['show'] }), /^INVALID_ARGUMENTS unknown skill: other$/)
})

t.test('a shell command line runs where SKILLS_SHELL is on', async t => {
  const { run } = await letters(t, { ...on, shell: true })
  for (const place of ['$SKILL_DIR', '$CLAUDE_SKILL_DIR']) t.equal(await run({ command: `sh "${place}/scripts/show.sh" a | tr a-z A-Z` }), 'A||LETTERS|')
  t.match(await run({ command: 'id', argv: ['show'] }), /^INVALID_ARGUMENTS give argv or command, one of the two$/)
})

t.test('allowed-tools is a ceiling for what the operator allows, and allows nothing', async t => {
  const fixture = createFixture(t)
  fixture.skill('none', { 'SKILL.md': text('none', 'allowed-tools: Read, Write\n'), 'scripts/a.sh': 'echo a\n' })
  fixture.skill('some', { 'SKILL.md': text('some', 'allowed-tools: Read Bash(sh:*) Bash(git log:*)\n'), 'scripts/a.sh': 'echo a\n', 'scripts/b.py': '' })
  fixture.skill('all', { 'SKILL.md': text('all', 'allowed-tools: [Read, Bash]\n'), 'scripts/a.sh': 'echo a\n' })
  const registry = await fixture.load({ ...on, shell: true, programs: ['show'] })
  const run = async (skill: string, args: object): Promise<unknown> => shown(await fixture.call(registry, 'skill_run', { skill, ...args }))
  t.match(await run('none', { argv: ['scripts/a.sh'] }), /^NOT_ALLOWED allowed-tools of the skill leaves no programs/)
  t.equal(await run('some', { argv: ['scripts/a.sh'] }), 'a\n')
  t.match(await run('some', { argv: ['scripts/b.py'] }), /^NOT_ALLOWED allowed-tools of the skill leaves sh, git, not "scripts\/b\.py"$/)
  t.match(await run('some', { argv: ['show'] }), /^NOT_ALLOWED allowed-tools/)
  t.match(await run('some', { argv: ['git', 'log'] }), /^NOT_ALLOWED program "git" is not in SKILL_PROGRAMS/)
  t.match(await run('some', { command: 'id' }), /^NOT_ALLOWED allowed-tools of the skill leaves sh, git: write argv$/)
  t.equal(await run('all', { command: 'echo $((1 + 1))' }), '2\n')
})

t.test('an entry of the operator says what a skill may do, and holds for the key as well', async t => {
  const venv = join(createFixture(t).base, 'venv')
  mkdirSync(join(venv, 'bin'), { recursive: true })
  writeFileSync(join(venv, 'bin/python3'), '#!/bin/sh\necho "venv $#"\n', { mode: 0o755 })
  const { registry, run } = await letters(t, { ...on, programs: [] }, { permissions: ['network'], python: venv, programs: ['show'], timeoutSec: 7, limits: { processes: 20 } })
  t.same(registry.findings, [])
  t.same(names(registry), ['activate_skill', 'read_skill', 'skill_run'])
  t.match(registry.get('skill_run')?.tool, { timeoutSec: 7, permissions: ['network'] })
  t.equal(await run({ argv: ['scripts/deep/nested.py', 'a'] }), 'venv 2\n')
  t.equal(await run({ argv: ['show', 'a'] }), 'a\0')
  const admitted = await admitCall({ tool: 'skill_run', registered: registry.get('skill_run'), key: { queues: undefined, permissions: ['read_repo'] } }, { skill: 'letters', argv: ['show'] }, { jobTypes: { get: () => ({}) }, permissions: { allowed: ['read_repo', 'network'], defaults: [] } })
  t.match(admitted, { error: { code: 'FORBIDDEN' } })
})

t.test('an entry about a skill that there is not, or with a field that nobody knows, is told', async t => {
  const { registry } = await letters(t, on, { skill: 'lettres' })
  t.match(registry.findings, [{ severity: 'warning', rule: 'skill/settings', message: 'tool[0]: no manifest has a skill "lettres"' }])
  const other = await letters(t, on, { permission: ['network'], timeoutSec: 'soon' })
  t.match(other.registry.findings, [{ severity: 'error', rule: 'X21', path: ['tools', 0, 'permission'] }, { severity: 'error', rule: 'skill/settings', path: ['tools', 0, 'timeoutSec'] }])
  t.same(names((await letters(t, on, { enabled: false })).registry), [])
})

t.test('a script that writes beside itself does so in a copy, which is gone with the call', async t => {
  const { fixture, run } = await letters(t, on, { overlay: true })
  t.equal(await run({ argv: ['scripts/beside.sh'] }), 'made\n')
  t.notOk(readdirSync(join(fixture.skills, 'office/letters/scripts')).includes('made'))
})

t.test('a skill with a tools.json has no programs beside its tools', async t => {
  const fixture = createFixture(t)
  fixture.skill('strict', { 'SKILL.md': text('strict'), 'tools.json': { tools: [], allowlist: {}, execution: [] }, 'scripts/a.sh': 'echo a\n' })
  fixture.skill('letters', published)
  const registry = await fixture.load(on)
  t.match(shown(await fixture.call(registry, 'skill_run', { skill: 'strict', argv: ['scripts/a.sh'] })), /unknown skill: strict/)
})

t.test('what an approval of skill_run names changes with a script of the skill that it is for', async t => {
  const { fixture, registry } = await letters(t)
  const tool = registry.get('skill_run')?.tool
  if (tool === undefined) return t.fail('skill_run is there')
  const before = await programDigest(tool, { skill: 'letters' })
  t.match(before, /^[0-9a-f]{64}$/)
  t.equal(await programDigest(tool, { skill: 'letters' }), before)
  writeFileSync(join(fixture.skills, 'office/letters/scripts/deep/nested.py'), 'print(1)\n')
  t.not(await programDigest(tool, { skill: 'letters' }), before)
  t.equal(await programDigest(tool, { skill: 'toString' }), '', 'there is no such skill')
})
