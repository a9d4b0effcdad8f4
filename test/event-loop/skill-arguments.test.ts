import t from 'tap'
import { createFixture, showArguments, toolsFile } from '../skill/fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'
import { worstTexts } from './worst-texts.ts'

const normalized = { param: 'a', allowDash: true, normalizeNewlines: true }
const resolved = { ...normalized, resolveCommand: { binary: 'show', subcommand: 'run', args: ['$param', '$param'] } }

t.test('promise 10: no value of a skill\'s parameter holds up the event loop', async t => {
  const fixture = createFixture(t)
  fixture.program('show', showArguments)
  fixture.skill('one', { 'tools.json': toolsFile([normalized, { ...normalized, kind: 'flag' }, resolved]) })
  const registry = await fixture.load()
  for (const size of [1_040_000, 120_000]) {
    const { 'control characters': control, backslashes, quotes, 'letters of four bytes': pairs, 'equal letters': letters } = worstTexts(size)
    const texts = { control, backslashes, quotes, pairs, letters, 'line feeds in writing': '\\n'.repeat(size / 2), 'line feeds and tabs in writing': '\\n\\t'.repeat(size / 4) }
    for (const [what, text = ''] of Object.entries(texts)) {
      await leavesLoopFree(t, `${size} bytes of ${what}`, async () => {
        const outcome = await fixture.call(registry, 'probe', { a: text })
        if (!outcome.ok) t.equal(outcome.error.code, 'TOOL_UNAVAILABLE', what)
      })
    }
  }
})
