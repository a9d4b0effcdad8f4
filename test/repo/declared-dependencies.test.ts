import t from 'tap'
import { findForeign, findUndeclared, findUndeclaredInTests, findUnused } from './declared-dependencies.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

const planted = plantTree({
  'package.json': '{"name": "toolyard", "devDependencies": {"tap": "1.0.0"}}',
  'packages/queue/package.json': JSON.stringify({ name: '@toolyard/queue', dependencies: { bullmq: '1.0.0', '@fastify/cookie': '1.0.0', left: '1.0.0' } }),
  'packages/queue/src/a.ts': "import fs from 'node:fs'\nimport path from 'path'\nimport { Queue } from 'bullmq/deep'\nimport cookie from '@fastify/cookie'\nimport './b.ts'\nimport pino from 'pino'",
  'test/unit/a.test.ts': "import t from 'tap'\nimport { q } from '@toolyard/queue'\nimport { Redis } from 'ioredis'"
})

t.test('an import that the package does not declare is found', async t => {
  t.strictSame(findUndeclared(planted), ["packages/queue/src/a.ts:6 imports pino, which packages/queue/package.json doesn't declare"])
})

t.test('a test may import the packages of the workspace and the devDependencies of its root, and no more', async t => {
  t.strictSame(findUndeclaredInTests(planted), ["test/unit/a.test.ts:3 imports ioredis, which package.json doesn't declare"])
})

t.test('a dependency that nothing imports is found', async t => {
  t.strictSame(findUnused(planted), ['packages/queue/package.json declares left, which nothing imports'])
})

t.test('a script that needs more than Node to start is found', async t => {
  const scripts = plantTree({ 'scripts/a.mjs': "import fs from 'node:fs'\nimport './b.mjs'\nimport pino from 'pino'\nimport os from 'os'\nexport * from 'later'\nawait import('toolyard')" })
  t.strictSame(findForeign(scripts), ['scripts/a.mjs:3 imports pino', 'scripts/a.mjs:4 imports os', 'scripts/a.mjs:5 imports later'])
})

t.test('every import of this repository is declared', async t => {
  const tree = await readTree(repoRoot, path => /^(packages|apps|samples|test)\/|^package\.json$/.test(path))
  t.ok(tree.length > 20, 'the tree was read')
  t.strictSame(findUndeclared(tree), [])
  t.strictSame(findUndeclaredInTests(tree), [])
})

t.test('every dependency that a package declares is imported by it', async t => {
  t.strictSame(findUnused(await readTree(repoRoot, path => /^(packages|apps)\//.test(path))), [])
})

t.test('scripts that run before dependencies are installed need only Node', async t => {
  t.strictSame(findForeign(await readTree(repoRoot, path => /^scripts\/.*\.mjs$/.test(path))), [])
  t.strictSame(findForeign(await readTree(repoRoot, path => /^samples\/tools\/.*\.mjs$/.test(path))), [])
})
