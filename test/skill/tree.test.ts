import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Registry } from '@toolyard/manifests'
import { digestedSkillFiles, type DigestedFile } from '@toolyard/workspace'
import { waitFor } from '../support/condition.ts'
import { createFixture, told } from './fixture.ts'

const skillNames = (registry: Registry): string[] => registry.skills().map(({ name }) => name)
const skillMd = (yaml: string, body = '# Text\n'): string => `---\n${yaml}\n---\n${body}`

t.test('skills lie in categories as well, but not in skills, in hidden categories or in installed packages', async t => {
  const fixture = createFixture(t)
  for (const name of ['good', 'office/documents/words', 'office/slides', 'good/examples/other', '.cache/kept', 'node_modules/package/skill']) fixture.skill(name)
  fixture.skill('small', { 'SKILL.md': undefined, 'skill.md': skillMd('name: small') })
  fixture.skill('title', { 'SKILL.md': undefined, 'Skill.md': skillMd('name: title') })
  const registry = await fixture.load()
  t.same(registry.findings, [])
  t.same(skillNames(registry), ['good', 'words', 'slides', 'small', 'title'])
  t.same(skillNames(await fixture.load({}, [join(fixture.skills, 'office')])), ['words', 'slides'])
})

t.test('a skill that is named by its SKILL.md is the one of the directory', async t => {
  const fixture = createFixture(t)
  fixture.skill('good')
  const registry = await fixture.load({}, [join(fixture.skills, 'good/SKILL.md')])
  t.same([registry.findings, skillNames(registry)], [[], ['good']])
  t.match(told((await fixture.load({}, [join(fixture.skills, 'bad/SKILL.md')])).findings), [/^error AC1 read manifest: ENOENT/])
})

t.test('links between categories are followed once, and a category that links out of the tree is refused', async t => {
  const fixture = createFixture(t)
  fixture.skill('office/words')
  mkdirSync(join(fixture.skills, 'favourites'))
  symlinkSync('../office/words', join(fixture.skills, 'favourites/same'))
  symlinkSync('..', join(fixture.skills, 'favourites/loop'))
  mkdirSync(join(fixture.base, 'elsewhere'))
  writeFileSync(join(fixture.base, 'elsewhere/SKILL.md'), skillMd('name: elsewhere'))
  symlinkSync(join(fixture.base, 'elsewhere'), join(fixture.skills, 'favourites/out'))
  const registry = await fixture.load()
  t.same(skillNames(registry), ['same', 'words'])
  t.same(told(registry.findings), ['error S1 is a symbolic link out of the tree of skills, and is not read'])
})

t.test('S27 a script of an Agent Skill that is linked out of the skill, or to nowhere, is told', async t => {
  const fixture = createFixture(t)
  fixture.skill('linked', { 'SKILL.md': skillMd('name: linked\ndescription: Has links.'), 'scripts/run.sh': '#!/bin/sh\n' })
  const scripts = join(fixture.skills, 'linked/scripts')
  symlinkSync('/bin/sh', join(scripts, 'out.sh'))
  symlinkSync('gone.sh', join(scripts, 'nowhere.sh'))
  symlinkSync('run.sh', join(scripts, 'same.sh'))
  const { findings } = await fixture.load()
  t.same(told(findings), [
    'warning S27 is a symbolic link that leads nowhere, and never runs', 'warning S27 is a symbolic link that leads out of the skill, and never runs'
  ])
})

t.test('a SKILL.md of more than a megabyte is refused, and the others serve', async t => {
  const fixture = createFixture(t)
  fixture.skill('huge', { 'SKILL.md': `${skillMd('name: huge')}${'x'.repeat(10_000_000)}` })
  fixture.skill('good')
  const registry = await fixture.load()
  t.same(skillNames(registry), ['good'])
  t.same(told(registry.findings), ['error S1 SKILL.md is larger than 1048576 bytes'])
})

t.test('SC22 a text for people that is no YAML is read as if it had its quotes, as a hint of arguments; a list is a fault', async t => {
  const fixture = createFixture(t)
  fixture.skill('hint', { 'SKILL.md': '---\nname: hint\ndescription: Asks.\nargument-hint: [file] [format]\n---\n' })
  fixture.skill('tools', { 'SKILL.md': '---\nname: tools\ndescription: Asks.\nallowed-tools: [Read] [Bash]\n---\n' })
  const registry = await fixture.load()
  t.match(registry.skills(), [{ name: 'hint', frontMatter: { 'argument-hint': '[file] [format]' } }])
  t.equal(registry.skills().length, 1)
  t.match(registry.findings, [
    { severity: 'warning', rule: 'SC22', line: 4, message: 'front matter: argument-hint begins with [ and stands in no quotes; it is read as a text' },
    { severity: 'error', rule: 'SC22', file: join(fixture.skills, 'tools/SKILL.md') }
  ])
})

t.test('a file of a skill that was changed just now is read again: another change may have the same time on older kernels', async t => {
  const path = join(t.testdir({}), 'run.sh')
  await waitFor('it is read again', async () => {
    writeFileSync(path, 'echo')
    const known = new Map<string, DigestedFile>()
    const before = await digestedSkillFiles(dirname(path), known)
    for (const [name, file] of known) known.set(name, { ...file, digest: 'that of before' })
    const after = await digestedSkillFiles(dirname(path), known)
    return before[0]?.digest === after[0]?.digest
  }, 5_000)
})
