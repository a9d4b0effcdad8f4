import t from 'tap'
import { plain, readTables } from './markdown-table.ts'

t.test('tables are read with their headings, escaped bars and missing cells', async t => {
  t.strictSame(readTables([
    '# One', '', '| a | b |', '|---|:-:|', '| `x` | y \\| z |', '| alone |', '', 'text', '', '## Two', '',
    '```', '| not | read |', '# not a heading', '```', '', '| c |', '| --- |'
  ].join('\n')), [
    { heading: 'One', columns: ['a', 'b'], rows: [{ a: '`x`', b: 'y | z' }, { a: 'alone', b: '' }] },
    { heading: 'Two', columns: ['c'], rows: [] }
  ])
  t.equal(plain(' `NAME` '), 'NAME')
})
