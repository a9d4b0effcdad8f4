import t from 'tap'
import { skillsPrompt, toolSpec } from '@toolyard/manifests'
import { createFixture, names, toolsFile } from './fixture.ts'

const text = '---\nname: notes\ndescription: Search notes.\n---\n# Notes\n\nUse `search`.\n'

t.test('S40 SC25 read_skill is the first tool when skills are read on demand', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes', { 'SKILL.md': text, 'tools.json': toolsFile() })
  const registry = await fixture.load({ contextMode: 'readOnDemand' })
  t.same(registry.findings, [])
  t.same(names(registry), ['read_skill', 'probe'])
  const tool = registry.get('read_skill')?.tool
  t.same(tool && toolSpec(tool), {
    type: 'function',
    function: {
      name: 'read_skill',
      description: 'Read a skill. Call when you need to use a skill and its tools.',
      parameters: { type: 'object', properties: { skill_name: { type: 'string' } }, required: ['skill_name'] }
    }
  })
  t.equal(tool?.jobType, 'skill.read_skill')
})

t.test('S40 there is no read_skill in the mode full, which is the default', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes', { 'SKILL.md': text })
  t.same(names(await fixture.load()), [])
  t.same(names(await fixture.load({ contextMode: 'full' })), [])
})

t.test('SC25 there is no read_skill without a skill', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes')
  t.same(names(await fixture.load({ contextMode: 'readOnDemand', disabled: ['notes'] })), [])
})

t.test('SC25 X32 read_skill returns the text without its front matter, and runs no process', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes', { 'SKILL.md': text })
  fixture.skill('plain', { 'SKILL.md': '# Plain\n' })
  const registry = await fixture.load({ contextMode: 'readOnDemand' })
  t.same(await fixture.call(registry, 'read_skill', { skill_name: 'notes' }), { ok: true, output: '# Notes\n\nUse `search`.\n' })
  t.same(await fixture.call(registry, 'read_skill', { skill_name: 'plain' }), { ok: true, output: '# Plain\n' })
  t.same(await fixture.auditLines(), [])
})

t.test('SC25 read_skill knows the skills of all manifests', async t => {
  const fixture = createFixture(t)
  const registry = await fixture.load({ contextMode: 'readOnDemand' }, [fixture.skill('a', { 'tools.json': toolsFile() }), fixture.skill('b')])
  t.same(names(registry), ['read_skill', 'probe'])
  t.same(await fixture.call(registry, 'read_skill', { skill_name: 'b' }), { ok: true, output: '# b\n' })
})

t.test('SC25 read_skill says what is wrong with its arguments', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes')
  const registry = await fixture.load({ contextMode: 'readOnDemand' })
  const refused = (message: string): object => ({ ok: false, error: { code: 'INVALID_ARGUMENTS', message } })
  t.same(await fixture.call(registry, 'read_skill', {}), refused('missing skill_name'))
  t.same(await fixture.call(registry, 'read_skill', { skill_name: 5 }), refused('missing skill_name'))
  t.same(await fixture.call(registry, 'read_skill', { skill_name: 'other' }), refused('unknown skill: other'))
  t.same(await fixture.call(registry, 'read_skill', { skill_name: 'constructor' }), refused('unknown skill: constructor'))
  t.same(await fixture.call(registry, 'read_skill', { skill_name: '../notes' }), refused('unknown skill: ../notes'))
  t.same(await fixture.call(registry, 'read_skill', ['notes']), refused('arguments must be an object'))
})

t.test('SC24 the prompt names the skills, with their texts in the mode full', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes', { 'SKILL.md': text })
  fixture.skill('plain', { 'SKILL.md': '# Plain\n' })
  const skills = (await fixture.load()).skills()
  t.equal(skillsPrompt(skills, 'full'), [
    'You have access to the following skills:', '- **notes:** Search notes.', '# Notes\n\nUse `search`.', '- **plain:** (no description)', '# Plain'
  ].join('\n\n'))
  t.equal(skillsPrompt(skills, 'readOnDemand'), 'You have access to the following skills:\n- **notes**: Search notes.\n- **plain**: (no description)')
  t.equal(skillsPrompt([], 'full'), '')
})
