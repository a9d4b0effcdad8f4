import t from 'tap'
import { findWrongImports } from './import-directions.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

const names = ['contract', 'runtime', 'manifests', 'workspace', 'sandbox', 'executors', 'store', 'queue', 'client']
const apps = ['api', 'worker', 'cli', 'console']
const house = Object.fromEntries([...names.map(name => `packages/${name}`), ...apps.map(name => `apps/${name}`)]
  .map(dir => [`${dir}/package.json`, JSON.stringify({ name: `@toolyard/${dir.split('/')[1]}` })]))

const allowed: Array<[file: string, text: string]> = [
  ['packages/runtime/src/a.ts', "import { limits } from '@toolyard/contract'"],
  ['packages/manifests/src/a.ts', "import { limits } from '@toolyard/contract'"],
  ['packages/executors/src/a.ts', "import type { Tool } from '@toolyard/manifests'"],
  ['packages/executors/src/a.ts', "import { atPlace } from '@toolyard/workspace'"],
  ['apps/api/src/a.ts', "import { atPlace } from '@toolyard/workspace'"],
  ['packages/executors/src/a.ts', "import { openConnections } from '@toolyard/runtime/outgoing'"],
  ['packages/executors/src/a.ts', "export type { Tool } from '@toolyard/manifests'"],
  ['packages/executors/src/a.ts', "let tool: import('@toolyard/manifests').Tool"],
  ['packages/queue/src/a.ts', "import { Queue } from 'bullmq'\nimport type { Redis } from 'ioredis'"],
  ['packages/queue/src/a.ts', "import { fromRedis } from '@toolyard/store'"],
  ['packages/store/src/a.ts', "import { Redis } from 'ioredis'"],
  ['packages/executors/src/a.ts', "import { createBox } from '@toolyard/sandbox'"],
  ['packages/queue/src/deep/a.ts', "import { b } from '../b.ts'"],
  ['apps/api/src/a.ts', "import { queue } from '@toolyard/queue'\nimport fastify from 'fastify'"],
  ['apps/worker/src/a.ts', "import { run } from '@toolyard/executors'"],
  ['apps/cli/src/a.ts', "await import('@toolyard/api')\nimport.meta.resolve('@toolyard/worker')"],
  ['apps/console/src/a.tsx', "import { Client } from '@toolyard/client'"],
  ['packages/client/src/a.ts', "import type { JobView } from '@toolyard/contract'"],
  ['packages/contract/src/a.ts', "// import { Queue } from 'bullmq'\nconst text = \"import '@toolyard/api'\""]
]

const breaches: Array<[file: string, text: string, breach: RegExp]> = [
  ['packages/contract/src/a.ts', "import { log } from '@toolyard/runtime'", /:1 imports packages\/runtime, which packages\/contract must not know/],
  ['packages/runtime/src/a.ts', "import { Queue } from '@toolyard/queue'", /must not know/],
  ['packages/manifests/src/a.ts', "\n\nimport type { Outcome } from '@toolyard/executors'", /:3 imports packages\/executors/],
  ['packages/manifests/src/a.ts', "export { x } from '@toolyard/queue'", /must not know/],
  ['packages/executors/src/a.ts', "import { load } from '@toolyard/manifests'", /at run time/],
  ['packages/executors/src/a.ts', "import { type Tool } from '@toolyard/manifests'", /at run time/],
  ['packages/executors/src/a.ts', "import type { Queue } from '@toolyard/queue'", /must not know/],
  ['packages/sandbox/src/a.ts', "import type { Tool } from '@toolyard/manifests'", /must not know/],
  ['packages/store/src/a.ts', "import type { NewJob } from '@toolyard/queue'", /must not know/],
  ['apps/api/src/a.ts', "import { createBox } from '@toolyard/sandbox'", /must not know/],
  ['packages/workspace/src/a.ts', "import type { Outcome } from '@toolyard/executors'", /must not know/],
  ['packages/queue/src/a.ts', "import '@toolyard/manifests'", /must not know/],
  ['packages/queue/src/a.ts', "import { x } from '@toolyard/api'", /imports apps\/api/],
  ['packages/client/src/a.ts', "import '@toolyard/manifests'", /must not know/],
  ['packages/client/src/a.ts', "import { limits } from '@toolyard/contract'", /at run time/],
  ['apps/api/src/a.ts', "import { run } from '@toolyard/executors/command'", /must not know/],
  ['apps/api/src/a.ts', "import '@toolyard/worker'", /must not know/],
  ['apps/worker/src/a.ts', "import '@toolyard/api'", /must not know/],
  ['apps/console/src/a.tsx', "import '@toolyard/queue'", /must not know/],
  ['apps/api/src/a.ts', "import { Redis } from 'ioredis'", /only packages\/store may know/],
  ['packages/queue/src/a.ts', "import { Redis } from 'ioredis'", /only packages\/store may know/],
  ['apps/worker/src/a.ts', "import type { Job } from 'bullmq/dist/x.js'", /only packages\/queue may know/],
  ['packages/manifests/src/a.ts', "await import('@toolyard/queue')", /must not know/],
  ['packages/manifests/src/a.ts', "let x: import('@toolyard/queue').X", /must not know/],
  ['packages/manifests/src/a.cts', "import x = require('@toolyard/queue')", /must not know/],
  ['packages/manifests/src/a.mjs', "const x = require('@toolyard/queue')", /must not know/],
  ['packages/manifests/src/a.ts', "import.meta.resolve('@toolyard/queue')", /must not know/],
  ['packages/manifests/src/a.ts', "await import('@toolyard/' + name)", /computed target/],
  ['packages/manifests/src/a.ts', "import { x } from '../../queue/src/x.ts'", /leaves its package/],
  ['packages/manifests/src/a.ts', "import { x } from '../../manifests-two/src/x.ts'", /leaves its package/],
  ['packages/manifests/src/a.ts', "import { x } from '/srv/x.ts'", /leaves its package/],
  ['packages/manifests/src/a.ts', "import { x } from '@toolyard/manifests'", /its own package/],
  ['packages/manifests/src/a.ts', "import { x } from '@toolyard/attic'", /no package of the workspace/]
]

for (const [file, text] of allowed) {
  t.test(`${file} may say ${text}`, async t => {
    t.strictSame(findWrongImports(plantTree({ ...house, [file]: text })), [])
  })
}

for (const [file, text, breach] of breaches) {
  t.test(`${file} must not say ${text}`, async t => {
    const found = findWrongImports(plantTree({ ...house, [file]: text }))
    t.equal(found.length, 1)
    t.match(found[0], breach)
    t.ok(found[0]?.startsWith(`${file}:`), 'the file is named')
  })
}

t.test('a package without a place in the table is reported', async t => {
  t.strictSame(findWrongImports(plantTree({ 'packages/attic/package.json': '{"name":"@toolyard/attic"}' })),
    ['packages/attic has no place among the import directions'])
})

t.test('imports point one way in this repository', async t => {
  const tree = await readTree(repoRoot, path => /^(packages|apps|samples)\//.test(path))
  t.ok(tree.length > 10, 'the tree was read')
  t.strictSame(findWrongImports(tree), [])
})
