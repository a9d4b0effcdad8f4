import t from 'tap'
import { requiredRanges, ruleIds } from './rule-ids.ts'
import { findUncited, findUnknown, readCitations } from './rules.ts'
import { plantTree } from './source-tree.ts'

// The titles planted here are no citations: rule-coverage leaves this file out.
/** For `x` in a template literal. */
const hole = '$' + '{x}'
const known = { B1: 'one', B2: 'two', B3: 'three', B4: 'four' }

function cited (text: string): string[] {
  return readCitations(plantTree({ 'test/a.test.ts': text })).map(({ id }) => id)
}

t.test('rules are read from titles, wherever they stand and however many', async t => {
  t.strictSame(cited("t.test('B1 works', async t => {})"), ['B1'])
  t.strictSame(cited("t.test('B1, B2 and B30 work (RC8, X3b)', async t => { t.test(`AC9 too`, t => {}) })"), ['B1', 'B2', 'B30', 'RC8', 'X3b', 'AC9'])
  t.strictSame(cited(`void t.test('fault 7: odd bytes', { skip }, fn)\ntest(\`S1 is ${hole} and P2\`, fn)`), ['fault 7', 'S1', 'P2'])
})

t.test('text that only looks like a rule is not one', async t => {
  t.strictSame(cited("t.test('SHA256, UTF8, B0, B100, aB1, b1, BB1, B1x', fn)"), [])
  t.strictSame(cited("t.equal(a, b, 'B1')\nconst b = 'B2'\n// t.test('B3', fn)\n/x/.test('B4')"), [])
})

t.test('in files with computed titles, texts that begin with a rule count', async t => {
  t.strictSame(cited(`for (const x of ['B1', 'B2 works', 'says B3']) t.test(\`${hole} holds\`, fn)`), ['B1', 'B2'])
  t.strictSame(cited("for (const title of ['B1 holds']) t.test(title, fn)"), ['B1'])
})

t.test('an unknown rule is reported with its place', async t => {
  const citations = readCitations(plantTree({ 'test/a.test.ts': "\nt.test('B1, B9', fn)" }))
  t.strictSame(findUnknown(citations, known), ['test/a.test.ts:2 cites B9, which is no known rule'])
})

t.test('a required rule that no title cites is reported with its sentence', async t => {
  const citations = readCitations(plantTree({ 'test/a.test.ts': "t.test('B1, B3', fn)" }))
  t.strictSame(findUncited(citations, known, [{ part: 'B', first: 1, last: 5 }]), ['B2 two', 'B4 four', 'B5 (not among the known rules)'])
})

t.test('every required rule is known', async t => {
  t.strictSame(findUncited([], ruleIds, requiredRanges).filter(line => line.includes('not among')), [])
  t.equal(findUncited([], ruleIds, requiredRanges).length, requiredRanges.reduce((sum, { first, last }) => sum + last - first + 1, 0))
})
