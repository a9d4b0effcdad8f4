import t from 'tap'
import { findUndocumented } from './docstrings.ts'
import { readTree, repoRoot } from './source-tree.ts'

t.test('every function, class and interface that a package exports has a doc comment', async t => {
  const tree = await readTree(repoRoot, path => /^(packages|apps)\//.test(path))
  t.ok(tree.length > 10, 'the tree was read')
  t.strictSame(findUndocumented(tree), [])
})
