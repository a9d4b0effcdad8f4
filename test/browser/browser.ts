import { ensureChromium } from '@toolyard/runtime/install'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Cleanup } from '../support/cleanup.ts'

interface TestBrowser {
  /** Opens a page in a context of its own: its cookies are nobody else's. What it complains of is collected in `problems`. */
  open: () => Promise<{ page: Page, problems: string[] }>
}

/** Starts a browser, which ends with the test; the reason why not, where there is none. */
export async function startBrowser (cleanup: Cleanup): Promise<TestBrowser | string> {
  const said: string[] = []
  const executablePath = await ensureChromium({ env: process.env, say: line => { said.push(line) } })
  if (executablePath === undefined) return said.join(' ')
  // Chromium's own sandbox refuses root; the pages are the test's own.
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
  cleanup.teardown(async () => { await browser.close() })
  return {
    open: async () => {
      const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, locale: 'en-US' })
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      const problems: string[] = []
      page.on('pageerror', error => { problems.push(String(error)) })
      page.on('console', message => { if (/Content Security Policy|Refused to/.test(message.text())) problems.push(message.text()) })
      return { page, problems }
    }
  }
}
