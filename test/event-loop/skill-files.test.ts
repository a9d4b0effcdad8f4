import t from 'tap'
import { createFixture, type SkillFiles } from '../skill/fixture.ts'
import { load, threeFiles } from '../skill/three-files/fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'

const list = <Item>(count: number, item: (at: number) => Item): Item[] => Array.from({ length: count }, (_, at) => item(at))
const run = { tool: 'probe', binary: 'show', subcommand: 'run' }
const properties = Object.fromEntries(list(4_000, at => [`p${at}`, {}]))
const subcommands = list(10_000, at => `run ${at}`)
/** Lists that an author may make long, of which each is compared with another one. */
const skills: Record<string, SkillFiles> = {
  'executions of one tool': threeFiles({ executions: list(10_000, at => ({ ...run, paramCondition: { present: [`p${at}`] } })) }),
  'arguments and properties': threeFiles({
    tool: { parameters: { type: 'object', properties } },
    executions: list(60, at => ({ ...run, paramCondition: { present: [`p${at}`] }, args: list(1_000, each => ({ param: `q${at + each}` })) }))
  }),
  subcommands: threeFiles({ allowlist: { show: subcommands }, executions: subcommands.map((subcommand, at) => ({ ...run, subcommand, paramCondition: { present: [`p${at}`] } })) }),
  'tools and executions': {
    'tools.json': { allowlist: { show: ['run'] }, tools: list(5_000, at => ({ name: `t${at}`, parameters: {} })), execution: list(5_000, at => ({ ...run, tool: `t${at}` })) }
  },
  'defaults and required names': threeFiles({
    tool: { parameters: { type: 'object', properties: Object.fromEntries(list(2_400, at => [`p${at}`, { default: 1 }])), required: list(60_000, at => `q${at}`) } }
  }),
  'a large default and choices': threeFiles({
    tool: { parameters: { type: 'object', properties: { a: { default: 'x'.repeat(200_000), anyOf: list(1_000, at => ({ minLength: 300_000 + at })) } } } }
  }),
  'a large default and values': threeFiles({
    tool: { parameters: { type: 'object', properties: { a: { default: 'x'.repeat(200_000), enum: list(5_000, at => `value ${at}`) } } } }
  }),
  'large values and choices': threeFiles({
    tool: {
      parameters: {
        type: 'object',
        $defs: { values: { enum: list(20, at => 'x'.repeat(20_000) + String(at)) } },
        properties: { a: { default: 'x', anyOf: list(5_000, () => ({ $ref: '#/$defs/values' })) } }
      }
    }
  }),
  'names that stand twice, behind many lines': { 'tools.json': `${'\n'.repeat(1_000_000)}{${list(50, () => '"tools": []').join()}}` },
  'parentheses that are open': { 'SKILL.md': `---\nname: one\ndescription: x\nallowed-tools: ${'a('.repeat(8_000)}\n---\nText\n`, 'scripts/x.sh': 'echo' }
}

t.test('promise 10: no list in the files of a skill holds up a process that reads them', async t => {
  for (const [what, files] of Object.entries(skills)) {
    const fixture = createFixture(t)
    fixture.skill('one', files)
    await leavesLoopFree(t, what, () => fixture.load())
  }
})

t.test('promise 10: no value holds up a worker, however often a skill of three files names its parameter', async t => {
  const text = 'a/'.repeat(520_000)
  const { call } = await load(t, { args: list(60, () => ({ param: 'text' })) })
  await leavesLoopFree(t, 'a value with many slashes', async () => { t.match(await call({ text }), { ok: false }) })
})

t.test('promise 10: no value holds up a worker, however often the hints of a skill show it', async t => {
  const fixture = createFixture(t)
  fixture.program('show', 'echo x')
  const { call } = await load(t, { execution: { hintConditions: list(10, () => ({ exitCode: 0, hint: '{a}'.repeat(300) })) } }, fixture)
  const a = Object.fromEntries(list(20_000, at => [`name ${at}`, 'a value']))
  await leavesLoopFree(t, 'a large object', async () => { t.match(await call({ a }), { ok: true }) })
})
