import t from 'tap'
import { createService } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'
import { consoleEnv, consoleFiles, consoleTools } from './console-service.ts'

const browser = await startBrowser(t)
const long = 'list_allOpen_purchase_orders_of_the_department'

/** A program of the page: what of a cell is cut, or is a word on two lines. */
const faultsOf = `(selector, words) => {
  const cell = [...document.querySelectorAll(selector)].find(each => each.textContent.includes(words))
  const faults = cell.scrollWidth > cell.clientWidth ? ['it is cut'] : []
  const range = document.createRange()
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    for (const { index, 0: word } of text.data.matchAll(/[a-z]+/g)) {
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) faults.push(word)
    }
  }
  return faults
}`

void t.test('the console by keyboard, and on a narrow page', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const tools = [...consoleTools, { name: long, description: 'Lists.', command: ['./tools/bin/draw'], schema: { type: 'object' } }]
  const { client, api: { address } } = await createService(t, { files: consoleFiles, tools, env: consoleEnv })
  await client.request('/v1/keys', { body: { name: 'for-billing', role: 'admin', tenant: 'acme', namespaces: ['billing'], hosts: ['*.example.com'] } })
  await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: long }] } })
  const { page } = await browser.open()
  await openConsole(page, address)

  t.test('a dialog gives the focus back, however it is closed', async t => {
    await page.goto(`${address}/#/keys`)
    const revoke = page.getByRole('button', { name: 'Revoke for-billing' })
    for (const key of ['Escape', 'Enter']) {
      await revoke.press('Enter')
      await page.getByRole('button', { name: 'Back' }).press(key)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      t.equal(await page.evaluate('document.activeElement.ariaLabel'), 'Revoke for-billing', key)
    }
  })

  t.test('the first link leads past the pages\' names, and a page that was opened has the focus', async t => {
    await page.goto(`${address}/#/jobs`)
    await page.locator('.skip').press('Enter')
    t.equal(await page.evaluate('document.activeElement.id'), 'content')
    await page.getByRole('link', { name: long }).press('Enter')
    await page.getByRole('heading', { name: long }).waitFor()
    await page.waitForFunction("document.activeElement.id === 'content'")
  })

  t.test('at 360 px names break between their words, and the texts of lists are not cut', async t => {
    await page.setViewportSize({ width: 360, height: 900 })
    for (const [path, text, cell] of [
      ['jobs', long, 'td.what'], ['tools', long, 'td.wraps'], ['overview', long, 'td.wraps'], ['keys', 'only namespaces billing; hosts *.example.com', 'td.wraps'],
      ['audit', 'role: admin, tenant: acme', 'td.wraps']
    ] as const) {
      await page.goto(`${address}/#/${path}`)
      const found = page.locator(cell).filter({ hasText: text }).first()
      await found.waitFor()
      t.same(await page.evaluate(`(${faultsOf})(${JSON.stringify(cell)}, ${JSON.stringify(text)})`), [], path)
    }
  })
})
