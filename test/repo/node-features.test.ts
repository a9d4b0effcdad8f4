import t from 'tap'
import { readTree, repoRoot } from './source-tree.ts'

/** Node.js has these only since a release after the oldest one that `engines` allows, 20.3.0. */
const newer: ReadonlyArray<[since: string, use: RegExp]> = [
  ['20.6', /import\.meta\.resolve\b/],
  ['20.11', /import\.meta\.(?:dirname|filename)\b/],
  ['20.12', /process\.loadEnvFile\b|\bparseEnv\b/],
  ['22', /Promise\.withResolvers\b|Object\.groupBy\b|Array\.fromAsync\b/]
]

t.test('nothing that runs in production needs a newer Node.js than the oldest supported one', async t => {
  const tree = await readTree(repoRoot, path => /^(packages|apps)\/[\w-]+\/(src|bin)\//.test(path))
  t.ok(tree.length > 100, 'the tree was read')
  for (const { path, text } of tree) {
    for (const [since, use] of newer) t.notMatch(text, use, `${path}: only since ${since}`)
  }
})
