import t from 'tap'
import { findLongFiles, findLooseVersions, findMachinePaths, findRegistrySettings } from './hygiene.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

t.test('paths of one machine are found', async t => {
  const planted = plantTree({ 'a.md': `fine /var/work\n${['see ', 'root', 'x'].join('/')}`, 'b.ts': ['', 'work', 'main'].join('/') })
  t.strictSame(findMachinePaths(planted), [`a.md:2 ${['', 'root', ''].join('/')}`, `b.ts:1 ${['', 'work', ''].join('/')}`])
})

t.test('versions that are not exact are found', async t => {
  const planted = plantTree({
    'package.json': '{"devDependencies": {"a": "^1.0.0", "b": "1.0.0", "c": "1.0.0-rc.1", "g": "npm:a@2.0.0", "h": "npm:a@^2.0.0"}}',
    'packages/x/package.json': '{"dependencies": {"d": "*"}, "optionalDependencies": {"e": "1.x", "f": "git://x"}}'
  })
  t.strictSame(findLooseVersions(planted), ['package.json a@^1.0.0', 'package.json h@npm:a@^2.0.0', 'packages/x/package.json d@*', 'packages/x/package.json e@1.x', 'packages/x/package.json f@git://x'])
})

t.test('settings that name a registry are found, without their values', async t => {
  const planted = plantTree({ '.npmrc': 'fund=false\nregistry=https://example.org\n//example.org/:_authToken=secret' })
  t.strictSame(findRegistrySettings(planted), ['.npmrc registry', '.npmrc //example.org/:_authToken'])
})

t.test('files with too many lines are found', async t => {
  const planted = plantTree({ 'a.ts': 'x\n'.repeat(3), 'b.ts': 'x\n'.repeat(2), 'c.md': 'x\n'.repeat(9) })
  t.strictSame(findLongFiles(planted, 2), ['a.ts 3 lines'])
})

t.test('this repository is tied to no machine and no registry, pins its versions and keeps its files short', async t => {
  const tree = await readTree(repoRoot, () => true)
  t.ok(tree.length > 40, 'the tree was read')
  t.strictSame(findMachinePaths(tree), [])
  t.strictSame(findRegistrySettings(tree), [])
  t.strictSame(findLooseVersions(tree), [])
  t.strictSame(findLongFiles(tree, 250), [])
})
