import { variables } from '@toolyard/runtime'
import t from 'tap'
import { loadReference } from './reference.ts'
import { isScript, readTree, repoRoot } from './source-tree.ts'

/** Faults in the texts of settings, a line each. */
function faultsOf (texts: Readonly<Record<string, Readonly<Record<string, string>>>>, names: readonly string[]): string[] {
  const told = Object.values(texts).flatMap(group => Object.keys(group))
  return [
    ...names.filter(name => !told.includes(name)).map(name => `${name} has no text`),
    ...told.filter((name, index) => told.indexOf(name) < index).map(name => `${name} has two texts`),
    ...told.filter(name => !names.includes(name)).map(name => `${name} is no setting`)
  ]
}

t.test('faults in the texts of settings are found', async t => {
  t.strictSame(faultsOf({ One: { A: 'a' }, Two: { B: 'b' } }, ['A', 'B']), [])
  t.strictSame(faultsOf({ One: { A: 'a', C: 'c' }, Two: { A: 'again' } }, ['A', 'B']), ['B has no text', 'A has two texts', 'C is no setting'])
})

t.test('packages/runtime/src/settings/setting-texts.ts says what every setting is for, and of no other; npm run conformance writes the page', async t => {
  const { settingTexts } = await loadReference(new URL('../../../', import.meta.url))
  t.strictSame(faultsOf(settingTexts, Object.keys(variables)), [])
})

t.test('every setting is read by a part of the product', async t => {
  const product = await readTree(repoRoot, path => isScript(path) && /^(?:packages|apps)\//.test(path) && !/\/settings\/(?:settings|setting-texts|setting-warnings)\.ts$/.test(path))
  const words = new Set(product.flatMap(({ text }) => text.match(/\b[A-Z][A-Z_]+\b/g) ?? []))
  t.strictSame(Object.keys(variables).filter(name => !words.has(name)), [])
})
