import t from 'tap'
import { findUndocumented } from './docstrings.ts'
import { plantTree } from './source-tree.ts'

function undocumented (files: Record<string, string>): string[] {
  const sources = Object.fromEntries(Object.entries(files).map(([name, text]) => [`packages/queue/src/${name}`, text]))
  return findUndocumented(plantTree({ 'packages/queue/package.json': '{"name": "@toolyard/queue"}', ...sources }))
}

t.test('exported functions, classes and interfaces without a doc comment are found', t => {
  t.strictSame(undocumented({
    'index.ts': "export { a, B, type C, d, e } from './x.ts'",
    'x.ts': 'export function a () {}\nexport class B {}\nexport interface C {}\nexport const d = () => 1\n// A plain comment.\nexport function e () {}'
  }), ['packages/queue/src/x.ts:1 a', 'packages/queue/src/x.ts:2 B', 'packages/queue/src/x.ts:3 C', 'packages/queue/src/x.ts:4 d', 'packages/queue/src/x.ts:6 e'])
  t.end()
})

t.test('documented exports, other kinds of exports, and internal functions are not reported', t => {
  t.strictSame(undocumented({
    'index.ts': "export { a, B, limits, T } from './x.ts'\nexport type { Logger } from 'pino'",
    'x.ts': '/** Does it. */\nexport function a () {}\n/**\n * Is it.\n */\nexport class B {}\nexport const limits = {}\nexport type T = string\nexport function inside () {}\nfunction hidden () {}'
  }), [])
  t.end()
})

t.test('a doc comment that is empty or has only tags counts as missing', t => {
  t.strictSame(undocumented({
    'index.ts': "export { a, b } from './x.ts'",
    'x.ts': '/** */\nexport function a () {}\n/** @throws Error */\nexport function b () {}'
  }), ['packages/queue/src/x.ts:2 a', 'packages/queue/src/x.ts:4 b'])
  t.end()
})

t.test('an export is followed through renames and from file to file', t => {
  t.strictSame(undocumented({
    'index.ts': "export { renamed } from './deep/y.ts'\nexport function own () {}",
    'deep/y.ts': "export { a as renamed, b } from '../x.ts'",
    'x.ts': 'export function a () {}\nexport function b () {}'
  }), ['packages/queue/src/index.ts:2 own', 'packages/queue/src/x.ts:1 a'])
  t.end()
})
