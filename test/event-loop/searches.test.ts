import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture } from '../executors/fixture.ts'
import { leavesLoopFree } from './longest-turn.ts'
import { worstTexts } from './worst-texts.ts'

t.test('promise 10: no search holds up the event loop, whatever it searches and ignores', async t => {
  const fixture = createFixture(t, { env: { PATH: '' } })
  mkdirSync(join(fixture.workspace, 'a'.repeat(200)))
  const limited = { timeoutMs: 1_500 }
  for (const [what, text] of Object.entries(worstTexts(900_000))) {
    writeFileSync(join(fixture.workspace, 'f'), text)
    for (const args of [{ query: 'a', context_lines: 10, max_results: 500 }, { query: 'a|\\n|b', regex: true }, { query: 'x', glob: text.slice(0, 1_000) }, { query: 'x', cursor: text }, { query: 'x', files: Array.from({ length: 200 }, () => text.slice(0, 4_000)) }]) {
      await leavesLoopFree(t, `lines ${JSON.stringify(args).slice(0, 60)} in ${what}`, () => fixture.runBuiltinOnly('tools.find_in_files', args, limited))
    }
    await leavesLoopFree(t, `names by ${what}`, () => fixture.runBuiltinOnly('tools.file_search', { query: text, glob: text.slice(0, 1_000), cursor: text }, limited))
  }
  const rules = [`${'*a'.repeat(30)}b`, `${'**/'.repeat(100)}b`, ...Array.from({ length: 3 }, (_, at) => `a${'?'.repeat(at)}\n`.repeat(100_000))]
  for (const rule of rules) {
    writeFileSync(join(fixture.workspace, '.gitignore'), rule)
    const what = JSON.stringify(rule.slice(0, 20))
    await leavesLoopFree(t, `rules ${what}`, () => fixture.runBuiltinOnly('tools.file_search', { query: 'x' }, limited))
    await leavesLoopFree(t, `rules above ${what}`, () => fixture.runBuiltinOnly('tools.file_search', { query: 'x', path: 'a'.repeat(200) }, limited))
  }
})
