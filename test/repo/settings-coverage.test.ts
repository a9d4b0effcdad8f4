import { variables } from '@toolyard/runtime'
import t from 'tap'
import { loadReference } from './reference.ts'

/** What is wrong with the texts of settings, a line each. */
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

t.test('packages/runtime/src/settings/setting-texts.ts describes every setting, and no other; npm run conformance writes the page', async t => {
  const { settingTexts } = await loadReference(new URL('../../../', import.meta.url))
  t.strictSame(faultsOf(settingTexts, Object.keys(variables)), [])
})
