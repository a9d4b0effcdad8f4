import t from 'tap'
import { isScript, plantTree, readTree, repoRoot, type SourceFile } from './source-tree.ts'

/** Entries of packages: that they name something is no use of it. */
const entry = /^(?:packages|apps)\/[^/]+\/src\/(?:index|terms|[\w-]+(?:\/[\w-]+)*\/index)\.ts$/
/** For callers outside of this repository, and the schemas that the document of the API names. */
const published = /^packages\/(?:client|contract)\//
const declaration = /^export (?:async )?(?:abstract )?(?:(?<type>interface|type)|function\*?|class|const) \*?(?<name>[\w$]+)/gm

/**
 * Finds what files of packages and apps export and no other file names, as `file name`. A type may be named by its own file alone:
 * it says what the functions beside it take and give.
 */
function findUnusedExports (files: SourceFile[]): string[] {
  const naming = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    if (entry.test(path)) continue
    for (const [word] of text.matchAll(/[\w$]+/g)) naming.set(word, (naming.get(word) ?? new Set()).add(path))
  }
  const sources = files.filter(({ path }) => /^(?:packages|apps)\/[^/]+\/src\//.test(path) && !entry.test(path) && !published.test(path))
  return sources.flatMap(({ path, text }) => [...text.matchAll(declaration)].flatMap(({ groups }) => {
    const name = groups?.['name'] ?? ''
    const isNamed = groups?.['type'] !== undefined && text.split(new RegExp(`\\b${name}\\b`)).length > 2
    return isNamed || [...naming.get(name) ?? []].some(other => other !== path) ? [] : [`${path} ${name}`]
  }))
}

t.test('an export that no other file names is found', async t => {
  const tree = plantTree({
    'packages/a/src/one.ts': 'export function used (own: Own): void {}\nexport const alone = 1\nexport interface Both {}\nexport type Own = 1\nexport type Dead = 1\n',
    'packages/a/src/two.ts': "import { used } from './one.ts'\nused()\n",
    'packages/a/src/index.ts': "export { alone, type Both } from './one.ts'\n",
    'test/a/one.test.ts': "import type { Both } from '@toolyard/a'\n"
  })
  t.strictSame(findUnusedExports(tree), ['packages/a/src/one.ts alone', 'packages/a/src/one.ts Dead'])
})

t.test('what a file exports is named by another one', async t => {
  const tree = await readTree(repoRoot, path => isScript(path) && /^(?:packages|apps|test|scripts)\//.test(path))
  t.ok(tree.length > 1_000, 'the tree was read')
  t.strictSame(findUnusedExports(tree), [])
})
