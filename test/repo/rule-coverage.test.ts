import t from 'tap'
import { requiredRanges, ruleIds } from './rule-ids.ts'
import { findUncited, findUnknown, readCitations } from './rules.ts'
import { readTree, repoRoot } from './source-tree.ts'

// The guard's own tests plant citations.
const files = await readTree(repoRoot, path => /^test\/.*\.test\.ts$/.test(path) && path !== 'test/repo/rules.test.ts')
const citations = readCitations(files)

t.test('every rule that a test cites is a known one', t => {
  t.strictSame(findUnknown(citations, ruleIds), [])
  t.end()
})

t.test('every rule that must hold by now is cited by a test', t => {
  t.strictSame(findUncited(citations, ruleIds, requiredRanges), [])
  t.end()
})
