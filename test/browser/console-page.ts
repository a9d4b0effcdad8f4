import type { Page } from 'playwright-core'
import { testKeys } from '../support/service.ts'

/** Opens the jobs of the console at an address and logs in with a key. */
export async function openConsole (page: Page, at: string, key: string = testKeys.admin): Promise<void> {
  await page.goto(`${at}/#/jobs`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}
