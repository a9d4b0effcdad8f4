import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { createService, testKeys } from '../support/service.ts'
import { isAccessible } from './axe.ts'
import { startBrowser } from './browser.ts'
import { startProxy } from './proxy.ts'

const browser = await startBrowser(t)

void t.test('the page /docs in a browser', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const service = await createService(t, { files: programs, tools: entries })
  const { address } = service.api

  t.test('it is readable in both themes, wide and narrow, and asks no other host', async t => {
    const { page, problems } = await browser.open()
    const asked = new Set<string>()
    page.on('request', request => { asked.add(new URL(request.url()).origin) })
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1_300, 360]) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        await page.goto(`${address}/docs`)
        await page.getByText('Run one tool').first().click()
        await page.getByText('Try it out').first().waitFor()
        await isAccessible(t, page, `${colorScheme}, ${width} px`)
        t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `nothing is wider than ${width} px`)
      }
    }
    t.same([...asked], [address])
    t.same(problems, [], 'nothing needed to be stopped by the policy')
  })

  t.test('a key shows its tools, and one of them is called with the keyboard alone, also behind a proxy', async t => {
    const api = await service.startApi({ BASE_PATH: '/tools' })
    const at = await startProxy(t, api.address, '/tools')
    const { page, problems } = await browser.open()
    await page.goto(`${at}/docs`)
    await page.getByText('Read a job').first().waitFor()
    t.equal(await page.getByText('/v1/tools/echo', { exact: true }).count(), 0)
    await page.keyboard.press('Tab')
    await page.keyboard.type('nonsense')
    await page.keyboard.press('Enter')
    await page.getByText('No such API key.').waitFor()
    await page.getByLabel('API key').fill(testKeys.admin)
    await page.keyboard.press('Enter')
    const operation = page.locator('#operations-tools-echo')
    await operation.waitFor()
    await operation.locator('.opblock-summary-control').focus()
    await page.keyboard.press('Enter')
    await operation.getByRole('button', { name: 'Try it out' }).focus()
    await page.keyboard.press('Enter')
    await operation.locator('textarea').fill('{"said": "by the page"}')
    await operation.getByRole('button', { name: 'Execute' }).focus()
    await page.keyboard.press('Enter')
    await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).first().waitFor()
    t.match(await operation.locator('.live-responses-table').innerText(), /"said": "by the page"/)
    t.same(problems, [])
  })
})
