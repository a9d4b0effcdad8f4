import t from 'tap'
import { findDecisionFaults } from './decisions.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

const record = (number: string, title: string): string => `# ${number}. ${title}\n\n## Context\n\na\n\n## Decision\n\nb\n\n## Consequences\n\n- c\n\n## Alternatives tried\n\nd\n`
const sound = {
  'docs/decisions/0001-one.md': record('0001', 'One'),
  'docs/decisions/0002-two.md': record('0002', 'Two'),
  'docs/decisions/README.md': '| number | decision |\n|---|---|\n| [0001](0001-one.md) | One |\n| [0002](0002-two.md) | Two |\n'
}

t.test('sound records have no faults', t => {
  t.strictSame(findDecisionFaults(plantTree(sound)), [])
  t.end()
})

for (const [planted, fault] of [
  [{ 'docs/decisions/0004-four.md': record('0004', 'Four') }, '0004-four.md should be 0003-title.md'],
  [{ 'docs/decisions/0002-zwei.md': record('0002', 'Zwei') }, '0002-zwei.md should be 0003-title.md'],
  [{ 'docs/decisions/0002-two.md': record('0003', 'Two') }, "0002-two.md doesn't begin with '# 0002. '"],
  [{ 'docs/decisions/0002-two.md': record('0002', 'Zwei') }, 'README.md has no row for 0002-two.md with its title'],
  [{ 'docs/decisions/0002-two.md': record('0002', 'Two').replace('\n\nb', '') }, "0002-two.md says nothing under 'Decision'"],
  [{ 'docs/decisions/README.md': '' }, 'README.md has no row for 0001-one.md with its title']
] as Array<[Record<string, string>, string]>) {
  t.test(`found: ${fault}`, t => {
    const found = findDecisionFaults(plantTree({ ...sound, ...planted }).sort((a, b) => a.path < b.path ? -1 : 1))
    t.ok(found.includes(fault), found.join('\n'))
    t.end()
  })
}

t.test('the decision records of this repository are numbered without a gap, complete, and in the table', async t => {
  const tree = await readTree(repoRoot, path => path.startsWith('docs/decisions/'))
  t.ok(tree.length > 40, 'the records were read')
  t.strictSame(findDecisionFaults(tree), [])
})
