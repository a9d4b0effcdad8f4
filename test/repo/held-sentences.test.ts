import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readHeldSentences } from './held-sentences.ts'
import { repoRoot } from './source-tree.ts'

t.test('a paragraph, an item and a table that name no test are found', async t => {
  const named = '# Title\n\nIt holds. <!-- tests: a/b, c/d -->\n\nBecause. <!-- says why -->\n\nA list:\n\n- One. <!-- tests: e/f -->\n\n| a |\n|---|\n| b |\n\n<!-- tests: g/h -->\n'
  t.same([...new Set(readHeldSentences(named).tests)], ['a/b', 'c/d', 'e/f', 'g/h'])
  t.same(readHeldSentences(named).unheld, [])
  t.same(readHeldSentences(named.replaceAll(/ ?<!--.*-->/g, '')).unheld, ['It holds.', 'Because.', '- One.', '| b |'])
})

t.test('every paragraph of docs/security.md names tests that prove it, and each of these exists', async t => {
  const { unheld, tests } = readHeldSentences(readFileSync(join(repoRoot, 'docs/security.md'), 'utf8'))
  t.same(unheld, [])
  t.same(tests.filter(name => !existsSync(join(repoRoot, 'test', `${name}.test.ts`))), [])
})
