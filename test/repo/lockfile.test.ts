import t from 'tap'
import { findLockFaults } from './lockfile.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

interface Lock { packages: Record<string, Record<string, unknown>> }

const packages = { '': { devDependencies: { tap: '1.0.0' } }, 'packages/x': { dependencies: { a: '1.0.0' } } }
const lock: Lock = {
  packages: {
    ...packages,
    'node_modules/@toolyard/x': { resolved: 'packages/x', link: true },
    'node_modules/tap': { version: '1.0.0' },
    'packages/x/node_modules/a': { version: '1.0.0', dependencies: { tap: '^1.0.0' } }
  }
}

function faults (change: (lock: Lock) => void): string[] {
  const changed = structuredClone(lock)
  change(changed)
  return findLockFaults(plantTree({
    'package.json': JSON.stringify(packages['']),
    'packages/x/package.json': JSON.stringify({ name: '@toolyard/x', ...packages['packages/x'] }),
    'package-lock.json': JSON.stringify(changed)
  }))
}

t.test('a lockfile that has every package and dependency is accepted', async t => {
  t.strictSame(faults(() => {}), [])
})

for (const [fault, change] of [
  ['packages/x is not in the lockfile', lock => { delete lock.packages['packages/x'] }],
  ['@toolyard/x is not linked in the lockfile', lock => { delete lock.packages['node_modules/@toolyard/x'] }],
  ['packages/x has other dependencies than the lockfile', lock => { Object.assign(lock.packages['packages/x'] ?? {}, { dependencies: { a: '2.0.0' } }) }],
  ['the root has other devDependencies than the lockfile', lock => { Object.assign(lock.packages[''] ?? {}, { devDependencies: {} }) }],
  ['the root needs tap, which is not in the lockfile', lock => { delete lock.packages['node_modules/tap'] }],
  ['node_modules/tap needs b, which is not in the lockfile', lock => { Object.assign(lock.packages['node_modules/tap'] ?? {}, { optionalDependencies: { b: '1' } }) }],
  ['node_modules/tap is resolved to an address', lock => { Object.assign(lock.packages['node_modules/tap'] ?? {}, { resolved: 'https://example.org/tap.tgz' }) }]
] as Array<[string, (lock: Lock) => void]>) {
  t.test(`the lockfile's fault is found: ${fault}`, async t => {
    t.ok(faults(change).includes(fault))
  })
}

t.test('package-lock.json fits every package.json of this repository, and names no registry', async t => {
  const tree = await readTree(repoRoot, path => /(^|\/)package(-lock)?\.json$/.test(path))
  t.strictSame(findLockFaults(tree), [])
})
