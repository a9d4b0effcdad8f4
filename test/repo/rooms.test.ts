import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findRoomFaults } from './rooms.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

const house = {
  'packages/a/README.md': '`one/` begins\n`two/` ends\n',
  'packages/a/src/index.ts': "export { x } from './one/x.ts'",
  'packages/a/src/one/x.ts': "import { y } from '../two/y.ts'",
  'packages/a/src/two/y.ts': ''
}

const breaches: Array<[what: string, planted: Record<string, string>, says: RegExp]> = [
  ['two files that import each other', { 'packages/a/src/two/y.ts': "import './z.ts'", 'packages/a/src/two/z.ts': "import './y.ts'" }, /^files .*y\.ts -> .*z\.ts -> .*y\.ts/],
  ['types that are imported in a circle', { 'packages/a/src/two/y.ts': "import type { Z } from './z.ts'", 'packages/a/src/two/z.ts': "import { type Y } from './y.ts'" }, /^files /],
  ['two folders that import each other', { 'packages/a/src/two/z.ts': "import '../one/w.ts'", 'packages/a/src/one/w.ts': '' }, /^folders .*one -> .*two -> .*one/],
  ['a folder and the top', { 'packages/a/src/two/y.ts': "import '../limits.ts'", 'packages/a/src/limits.ts': '' }, /^folders /],
  ['a thirteenth room', Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`packages/a/src/r${at}/x.ts`, ''])), /at most 12/],
  ['a sixteenth file in a folder', Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`packages/a/src/two/f${at}.ts`, ''])), /two has 16 files; at most 15/],
  ['a package without a README.md', { 'packages/a/README.md': undefined as unknown as string }, /has no README\.md/],
  ['a long README.md', { 'packages/a/README.md': `${house['packages/a/README.md']}${'\n'.repeat(40)}end` }, /at most 40/],
  ['a room without a purpose', { 'packages/a/src/three/x.ts': '' }, /doesn't say what three\/ is for/]
]

/** Files that are undefined aren't there. */
function faultsOf (planted: Record<string, string> = {}): string[] {
  return findRoomFaults(plantTree({ ...house, ...planted }).filter(({ text }: { text?: string }) => text !== undefined), 'packages/a')
}

t.strictSame(faultsOf(), [], 'a sound package has no faults')

for (const [what, planted, says] of breaches) {
  t.test(`${what}: reported`, async t => {
    t.ok(faultsOf(planted).some(fault => says.test(fault)), faultsOf(planted).join('\n'))
  })
}

for (const parent of ['packages', 'apps']) {
  for (const name of readdirSync(join(repoRoot, parent))) {
    const dir = `${parent}/${name}`
    t.test(`each room of ${dir} has a purpose, and no circle goes through it`, async t => {
      const tree = await readTree(repoRoot, path => path.startsWith(`${dir}/`))
      t.ok(tree.length > 5, 'the tree was read')
      t.strictSame(findRoomFaults(tree, dir), [])
    })
  }
}
