import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { repositoryCitations } from './citations.ts'
import { renderConformance, renderRules } from './conformance.ts'
import { loadReference, renderCommands, renderRoutes, renderSettings } from './reference.ts'
import { lintRules } from './rule-ids/lint.ts'
import { ruleIds } from './rule-ids.ts'
import { readTree, repoRoot } from './source-tree.ts'

t.test('a rule is shown with the files whose titles cite it, and as untested without any', async t => {
  const page = renderConformance({ A1: 'the root', A2: 'the name' }, [{ id: 'A1', at: 'test/x.test.ts:3' }, { id: 'A1', at: 'test/x.test.ts:9' }])
  t.match(page, '| A1 | the root | the document of agentcli\'s tools.json | tested | [x.test.ts](../test/x.test.ts) |')
  t.match(page, '| A2 | the name | the document of agentcli\'s tools.json | no test |  |')
})

t.test('docs/conformance.md agrees with the titles of the tests; npm run conformance writes it again', async t => {
  const page = await readFile(join(repoRoot, 'docs/conformance.md'), 'utf8')
  t.equal(page, renderConformance(ruleIds, await repositoryCitations()))
})

t.test('rules.json of the command agrees with the rules, and has every rule that messages name', async t => {
  const text = await readFile(join(repoRoot, 'apps/cli/rules.json'), 'utf8')
  t.equal(text, renderRules({ ...ruleIds, ...lintRules }))
  const { rules } = JSON.parse(text) as { rules: Record<string, unknown> }
  const sources = await readTree(repoRoot, path => /^packages\/(manifests|executors)\/src\//.test(path))
  const named = sources.flatMap(({ text }) => [...text.matchAll(/(?:rule: |ManifestFault\()'([^']+)'/g)].map(([, id = '']) => id))
  t.ok(named.length > 20, 'they were found')
  t.strictSame(named.filter(id => !Object.hasOwn(rules, id)), [])
})

t.test('docs/reference agrees with the routes, commands and settings of the code; npm run conformance writes it again', async t => {
  const reference = await loadReference(new URL('../../../', import.meta.url))
  const planted = { ...reference, routes: { ...reference.routes, 'GET /v1/planted': { tag: 'tools', summary: 'Is planted' } } }
  t.match(renderRoutes(planted), '| `GET /v1/planted` | Is planted |')
  t.equal(await readFile(join(repoRoot, 'docs/reference/routes.md'), 'utf8'), renderRoutes(reference))
  t.equal(await readFile(join(repoRoot, 'docs/reference/commands.md'), 'utf8'), renderCommands(reference))
  t.equal(await readFile(join(repoRoot, 'docs/reference/settings.md'), 'utf8'), renderSettings(reference))
})
