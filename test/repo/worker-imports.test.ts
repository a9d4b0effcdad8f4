import t from 'tap'
import { readImports } from './imports.ts'
import { isScript, readTree, repoRoot, type SourceFile } from './source-tree.ts'

/** A worker loads these. */
const workerRooms = /^(?:packages\/(?:runtime|manifests|workspace|sandbox|executors|store|queue)|apps\/worker)\/src\//
const clients = new Set(['undici', '@toolyard/runtime/connections'])
/** Loaded by `loadCodeOf`, or where callbacks are sent. */
const loadedLate = /\/outgoing\/connections\.ts$|^packages\/executors\/src\/(?:builtin\/web|http|mcp)\/|^apps\/worker\/src\/callbacks\//
/** No worker needs these, or few do, and what to import instead: together a third of a worker's start and 15 MB of it. */
const heavy: Record<string, string> = {
  undici: "'@toolyard/runtime/connections' where it is needed",
  '@toolyard/runtime/connections': "it with `await import`, or '@toolyard/runtime/outgoing'",
  '@toolyard/contract': "types with `import type`, the rest from '@toolyard/contract/terms'",
  '@toolyard/runtime/metrics': 'it with `await import` where metrics are shown',
  typebox: "types with `import type`, Type from '@toolyard/contract/type', checks from 'typebox/schema'",
  'typebox/compile': "'typebox/schema'",
  'typebox/value': "'typebox/schema'"
}

function findHeavyImports (tree: SourceFile[]): string[] {
  return tree.filter(({ path }) => workerRooms.test(path) && isScript(path)).flatMap(file => readImports(file).flatMap(({ specifier = '', typeOnly, late, line }) => (
    typeOnly || late || heavy[specifier] === undefined || (clients.has(specifier) && loadedLate.test(file.path)) ? [] : [`${file.path}:${line} loads ${specifier}; take ${heavy[specifier]}`]
  )))
}

t.test('a worker does not load the schemas of the HTTP API, and an HTTP client only for tools that need one', async t => {
  const tree = await readTree(repoRoot, path => workerRooms.test(path))
  t.ok(tree.length > 100, 'the tree was read')
  t.strictSame(findHeavyImports(tree), [])
})

t.test('an import that stays in the compiled program counts, and an import of types does not', async t => {
  const found = (text: string): string[] => findHeavyImports([{ path: 'packages/queue/src/a.ts', text }])
  t.strictSame(found("import type { JobData } from '@toolyard/contract'"), [])
  t.strictSame(found("import { limits } from '@toolyard/contract/terms'"), [])
  t.match(found("import { type JobData } from '@toolyard/contract'"), [/^packages\/queue\/src\/a\.ts:1 loads @toolyard\/contract; /])
  t.match(found("export { Type } from 'typebox'"), [/:1 loads typebox; /])
})
