import t from 'tap'
import { repositoryCitations } from './citations.ts'
import { requiredRanges, ruleIds } from './rule-ids.ts'
import { findUncited, findUnknown } from './rules.ts'

const citations = await repositoryCitations()

t.test('every rule that a test cites is a known one', async t => {
  t.strictSame(findUnknown(citations, ruleIds), [])
})

t.test('every rule that must hold by now is cited by a test', async t => {
  t.strictSame(findUncited(citations, ruleIds, requiredRanges), [])
})
