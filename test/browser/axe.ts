import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Fails for what axe finds on the page as it is. */
export async function isAccessible (t: Test, page: Page, what: string): Promise<void> {
  // The page's policy lets no script in; the test's own goes in by the browser's tools.
  await page.evaluate(axe)
  const found = await page.evaluate<{ violations: Array<{ id: string, nodes: Array<{ html: string, failureSummary: string }> }> }>(
    'axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], rules: { "skip-link": { enabled: true } } })'
  )
  const texts = found.violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 5).map(({ html, failureSummary }) => `${html} ${failureSummary}`)])
  t.same(texts, [], what)
}
