import { readFileSync } from 'node:fs'

/** What rules.json has of each rule; `npm run conformance` writes it. */
export interface Rule {
  sentence: string
  /** What Toolyard does instead, on purpose. */
  differs?: string
}

/** The rules that messages name, and where all of them are. */
export function readRules (): { page: string, rules: Record<string, Rule> } {
  return JSON.parse(readFileSync(new URL('../../rules.json', import.meta.url), 'utf8')) as ReturnType<typeof readRules>
}

/** Where all of them are. */
export function rulesPage (): string {
  return readRules().page
}
