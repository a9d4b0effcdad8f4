import t from 'tap'
import { findDecisionFaults } from './decisions.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

const record = (number: string, title: string): string => `# ${number}. ${title}\n\nWhere: \`a.ts\`\n\nStatus: active\n\n## Context\n\na\n\n## Decision\n\nb\n\n## Consequences\n\n- c\n\n## Alternatives tried\n\nd\n`
const table = (...rows: string[]): string => `| number | decision |\n|---|---|\n${rows.join('\n')}\n`
const sound = {
  'docs/decisions/0001-one.md': record('0001', 'One'),
  'docs/decisions/0004-four.md': record('0004', 'Four'),
  'docs/decisions/README.md': table('| [0001](0001-one.md) | One |', '| [0004](0004-four.md) | Four |')
}

t.test('sound records have no faults, also with a gap between their numbers', async t => {
  t.strictSame(findDecisionFaults(plantTree(sound)), [])
})

t.test('a record that is replaced by another one has no fault', async t => {
  const replaced = record('0001', 'One').replace('active', 'replaced by [0004](0004-four.md)')
  t.strictSame(findDecisionFaults(plantTree({ ...sound, 'docs/decisions/0001-one.md': replaced })), [])
})

t.test('a record with a status of another word has a fault', async t => {
  const doubtful = record('0001', 'One').replace('active', 'maybe')
  t.strictSame(findDecisionFaults(plantTree({ ...sound, 'docs/decisions/0001-one.md': doubtful })), ["0001-one.md has no line 'Status: active' below 'Where:'"])
})

for (const [planted, fault] of [
  [{ 'docs/decisions/four.md': record('four', 'Four') }, 'four.md should have a name like 0001-title.md'],
  [{ 'docs/decisions/0004-vier.md': record('0004', 'Vier') }, '0004-vier.md has a number that is used already'],
  [{ 'docs/decisions/0004-four.md': record('0003', 'Four') }, "0004-four.md doesn't begin with '# 0004. '"],
  [{ 'docs/decisions/0004-four.md': record('0004', 'Four').replace('Status: active\n\n', '') }, "0004-four.md has no line 'Status: active' below 'Where:'"],
  [{ 'docs/decisions/0004-four.md': record('0004', 'Vier') }, 'README.md has no row for 0004-four.md with its title'],
  [{ 'docs/decisions/0004-four.md': record('0004', 'Four').replace('\n\nb', '') }, "0004-four.md says nothing under 'Decision'"],
  [{ 'docs/decisions/README.md': '' }, 'README.md has no row for 0001-one.md with its title'],
  [{ 'docs/decisions/README.md': table('| [0004](0004-four.md) | Four |', '| [0001](0001-one.md) | One |') }, 'README.md has the row [0001](0001-one.md) out of order']
] as Array<[Record<string, string>, string]>) {
  t.test(`found: ${fault}`, async t => {
    const found = findDecisionFaults(plantTree({ ...sound, ...planted }).sort((a, b) => a.path < b.path ? -1 : 1))
    t.ok(found.includes(fault), found.join('\n'))
  })
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1).padStart(4, '0'))
for (const [count, faults] of [
  [60, []],
  [61, ['there are 61 records: merge those about one subject until there are at most 60']]
] as Array<[number, string[]]>) {
  t.test(`${count} records have ${faults.length === 0 ? 'no fault' : 'the fault that they are too many'}`, async t => {
    t.strictSame(findDecisionFaults(plantTree({
      ...Object.fromEntries(numbers(count).map(number => [`docs/decisions/${number}-a.md`, record(number, 'A')])),
      'docs/decisions/README.md': table(...numbers(count).map(number => `| [${number}](${number}-a.md) | A |`))
    })), faults)
  })
}

t.test('the decision records of this repository have numbers of their own, are complete, and in the table', async t => {
  const tree = await readTree(repoRoot, path => path.startsWith('docs/decisions/'))
  t.ok(tree.length > 40, 'the records were read')
  t.strictSame(findDecisionFaults(tree), [])
})
