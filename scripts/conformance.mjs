/** `npm run conformance`: writes docs/conformance.md from the titles of the tests. */
import { writeFileSync } from 'node:fs'
import { build, root } from './checkout.mjs'

process.chdir(root)
build()
const [{ renderConformance }, { ruleIds }, { repositoryCitations }] = await Promise.all(
  ['conformance', 'rule-ids', 'citations'].map(name => import(new URL(`../test/build/repo/${name}.js`, import.meta.url).href))
)
writeFileSync('docs/conformance.md', renderConformance(ruleIds, await repositoryCitations()))
