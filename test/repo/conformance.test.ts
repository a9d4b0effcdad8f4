import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { repositoryCitations } from './citations.ts'
import { renderConformance } from './conformance.ts'
import { ruleIds } from './rule-ids.ts'
import { repoRoot } from './source-tree.ts'

t.test('a rule is shown with the files whose titles cite it, and as untested without any', async t => {
  const page = renderConformance({ A1: 'the root', A2: 'the name' }, [{ id: 'A1', at: 'test/x.test.ts:3' }, { id: 'A1', at: 'test/x.test.ts:9' }])
  t.match(page, '| A1 | the root | tested | [x.test.ts](../test/x.test.ts) |')
  t.match(page, '| A2 | the name | no test |  |')
})

t.test('docs/conformance.md is what the titles of the tests say; npm run conformance makes it anew', async t => {
  const page = await readFile(join(repoRoot, 'docs/conformance.md'), 'utf8')
  t.equal(page, renderConformance(ruleIds, await repositoryCitations()))
})
