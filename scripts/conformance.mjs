/** `npm run conformance`: writes docs/conformance.md from the titles of the tests, and the rules that the command explains. */
import { writeFileSync } from 'node:fs'
import { build, root } from './checkout.mjs'

process.chdir(root)
build()
const [{ renderConformance, renderRules }, { ruleIds }, { lintRules }, { repositoryCitations }] = await Promise.all(
  ['conformance', 'rule-ids', 'rule-ids/lint', 'citations'].map(name => import(new URL(`../test/build/repo/${name}.js`, import.meta.url).href))
)
writeFileSync('docs/conformance.md', renderConformance(ruleIds, await repositoryCitations()))
writeFileSync('apps/cli/rules.json', renderRules({ ...ruleIds, ...lintRules }))
