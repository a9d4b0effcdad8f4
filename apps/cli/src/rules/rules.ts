import { storedJson } from '@toolyard/contract/terms'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A rule of rules.json; `npm run conformance` writes it. */
export interface Rule {
  sentence: string
  source: string
  /** Done instead by Toolyard, on purpose. */
  differs?: string
}

/** The pages are in the package; a checkout has them at its root, and an image has none. */
const places = ['../../docs/', '../../../../docs/']
const page = 'conformance.md'

export function readRules (): Record<string, Rule> {
  return storedJson<{ rules: Record<string, Rule> }>(readFileSync(new URL('../../rules.json', import.meta.url), 'utf8')).rules
}

/** The page with all of them, a file of this machine: nobody needs a network to read it. */
export function rulesPage (): string | undefined {
  return places.map(place => fileURLToPath(new URL(place + page, import.meta.url))).find(file => existsSync(file))
}
