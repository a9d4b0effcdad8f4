/**
 * `npm run conformance`: writes docs/conformance.md from the titles of the tests, the rules that the command explains, and
 * the pages of docs/reference from the code.
 */
import { writeFileSync } from 'node:fs'
import { build, root } from './checkout.mjs'

process.chdir(root)
build()
const [{ renderConformance, renderRules }, { ruleIds }, { lintRules }, { repositoryCitations }, { loadReference, renderCommands, renderRoutes, renderSettings }] = await Promise.all(
  ['conformance', 'rule-ids', 'rule-ids/lint', 'citations', 'reference'].map(name => import(new URL(`../test/build/repo/${name}.js`, import.meta.url).href))
)
writeFileSync('docs/conformance.md', renderConformance(ruleIds, await repositoryCitations()))
writeFileSync('apps/cli/rules.json', renderRules({ ...ruleIds, ...lintRules }))
const reference = await loadReference(new URL('../', import.meta.url))
writeFileSync('docs/reference/routes.md', renderRoutes(reference))
writeFileSync('docs/reference/commands.md', renderCommands(reference))
writeFileSync('docs/reference/settings.md', renderSettings(reference))
