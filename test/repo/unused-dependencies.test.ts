import t from 'tap'
import { findUnused } from './declared-dependencies.ts'
import { readTree, repoRoot } from './source-tree.ts'

t.test('every dependency that a package declares is imported by it', async t => {
  const tree = await readTree(repoRoot, path => /^(packages|apps)\//.test(path))
  t.ok(tree.length > 10, 'the tree was read')
  t.strictSame(findUnused(tree), [])
})
