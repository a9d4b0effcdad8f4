import t from 'tap'
import { createFixture } from './fixture.ts'

const dir = '$' + '{CLAUDE_SKILL_DIR}'
const plugin = '$' + '{CLAUDE_PLUGIN_ROOT}'

t.test('a script that allowed-tools names runs, in each way in which people name it, and no other script does', async t => {
  const fixture = createFixture(t)
  const ways = [`${dir}/scripts/a.sh *`, `${plugin}/skills/NAME/scripts/a.sh:*`, './scripts/a.sh:*', 'scripts/a.sh', '~/.claude/skills/NAME/scripts/a*', './scripts/a.*:*', '{baseDir}/scripts/sub/../a.sh']
  for (const [at, way] of ways.entries()) {
    const entry = `Bash(${way.replace('NAME', `s${at}`)})`
    fixture.skill(`s${at}`, {
      'SKILL.md': `---\nname: s${at}\ndescription: Runs.\nallowed-tools: ["Read", "${entry}"]\n---\n`, 'scripts/a.sh': 'echo a\n', 'scripts/b.sh': 'echo b\n', 'scripts/sub/c.sh': ''
    })
  }
  fixture.skill('all', { 'SKILL.md': '---\nname: all\ndescription: Runs.\nallowed-tools: Bash(./scripts/sub/*:*)\n---\n', 'scripts/b.sh': 'echo b\n', 'scripts/sub/c.sh': 'echo c\n' })
  const registry = await fixture.load({ allowScripts: true, programs: [] })
  const run = async (skill: string, script: string): Promise<unknown> => await fixture.call(registry, 'skill_run', { skill, argv: [script] })
  for (const [at, way] of ways.entries()) {
    t.match(await run(`s${at}`, 'scripts/a.sh'), { ok: true, output: 'a\n' }, way)
    t.match(await run(`s${at}`, 'scripts/b.sh'), { ok: false, error: { code: 'NOT_ALLOWED', message: /^allowed-tools of the skill leaves / } }, way)
  }
  t.match(await run('all', 'scripts/sub/c.sh'), { ok: true, output: 'c\n' })
  for (const script of ['scripts/b.sh', 'scripts/sub/../b.sh']) t.match(await run('all', script), { ok: false, error: { code: 'NOT_ALLOWED' } }, script)
})
