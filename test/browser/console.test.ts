import type { Route } from 'playwright-core'
import t from 'tap'
import { list, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { isAccessible } from './axe.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'
import { consoleEnv, consoleFiles, consoleTools, fillConsole } from './console-service.ts'
import { startProxy } from './proxy.ts'

const attack = '<img src=x onerror="window.attacked = 1"><script>window.attacked = 1</script>'
/** The heads of columns that reach into the next one. */
const cutHeads = "[...document.querySelectorAll('th')].filter(head => head.scrollWidth > head.clientWidth).map(head => head.textContent)"
const browser = await startBrowser(t)

void t.test('the console in a browser', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const service = await createService(t, { files: consoleFiles, tools: consoleTools, env: consoleEnv })
  const { client, api: { address } } = service
  const pages = await fillConsole(service)

  t.test('every page is readable in both themes, wide and narrow, and asks no other host', async t => {
    const { page, problems } = await browser.open()
    const asked = new Set<string>()
    page.on('request', request => { asked.add(new URL(request.url()).protocol === 'blob:' ? 'blob' : new URL(request.url()).origin) })
    await page.goto(`${address}/`)
    await page.getByLabel('API key').waitFor()
    await isAccessible(t, page, 'the login')
    await openConsole(page, address)
    for (const [name, hash, text] of pages) {
      await page.setViewportSize({ width: 1_300, height: 900 })
      await page.goto(`${address}/${hash}`)
      await page.getByText(text).first().waitFor()
      for (const [colorScheme, width] of [['light', 1_300], ['light', 1_201], ['light', 768], ['dark', 360]] as const) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        // Charts follow the page a little later.
        await waitFor(`${name}: nothing is wider than ${width} px`, async () => (
          await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')
        ))
        t.same(await page.evaluate(cutHeads), [], `${name}: every column has room for its head at ${width} px`)
        if (width === 1_300 || width === 360) await isAccessible(t, page, `${name}, ${colorScheme}, ${width} px`)
      }
    }
    t.same([...asked].filter(origin => origin !== 'blob'), [address])
    t.same(problems, [], 'nothing needed to be stopped by the policy')
  })

  t.test('a failed job is found with the keyboard alone, by a filter in the address, and its error says what it means', async t => {
    const { page } = await browser.open()
    await openConsole(page, address)
    await page.getByRole('link', { name: 'failed', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/status=failed/)
    // The list of all jobs, which is there until the page is drawn again, has this row too.
    await page.getByText('1 job: 1 failed').waitFor()
    await page.locator('td').getByText('TOOL_FAILED').waitFor()
    t.equal(await page.locator('tbody tr').count(), 1)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'send_report' }).waitFor()
    await page.getByText('The tool ran and reported failure').waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(/#\/jobs\?status=failed/, { timeout: 30_000 })
    // The page of the job has such a link, too.
    await page.getByText('1 job: 1 failed').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('agentcli.draw')
    await page.keyboard.press('Enter')
    await page.getByText('No job fits these filters.').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'slow_import' }).first().waitFor()
  })

  t.test('the list is turned round by its heading, page by page', async t => {
    const { page } = await browser.open()
    await openConsole(page, address)
    await page.goto(`${address}/#/jobs?tool=count_words`)
    const heading = page.getByRole('columnheader', { name: 'Submitted' })
    const first = page.locator('tbody tr').first()
    await first.waitFor()
    t.equal(await heading.getAttribute('aria-sort'), 'descending')
    await heading.getByRole('link').click()
    await page.waitForURL(/order=oldest/)
    await page.locator('th[aria-sort=ascending]').waitFor()
    const { jobs: [oldest] } = await list(client, '?tool=count_words&order=oldest&limit=1')
    await first.getByText(oldest?.id.slice(-8) ?? '').waitFor()
    await heading.getByRole('link').click()
    await page.locator('th[aria-sort=descending]').waitFor()
    t.notMatch(page.url(), 'order')
  })

  t.test('a running job is watched live, and cancelled', async t => {
    const { id } = await submit(client, { type: 'agentcli.slow_import', input: { table: 'customers' } })
    const { page } = await browser.open()
    await openConsole(page, address)
    await page.goto(`${address}/#/jobs/${id}`)
    await page.getByText(/imported 150 of/).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByRole('heading', { name: 'slow_import' }).getByText('cancelled').waitFor()
    t.equal((await reach(client, id, 'cancelled')).status, 'cancelled')
  })

  t.test('what is typed into a filter stays while the list is read again', async t => {
    const { page } = await browser.open()
    await openConsole(page, address)
    await page.getByLabel('Tool', { exact: true }).pressSequentially('send')
    await page.waitForResponse(/\/v1\/jobs\?/)
    await page.waitForResponse(/\/v1\/jobs\?/)
    await page.getByLabel('Tool', { exact: true }).pressSequentially('_report')
    await page.keyboard.press('Enter')
    await page.waitForURL(/tool=send_report/)
    t.equal(await page.getByLabel('Tool', { exact: true }).inputValue(), 'send_report')
    await page.getByRole('link', { name: 'all', exact: true }).click()
    await page.goto(`${address}/#/jobs`)
    await waitFor('the filter is gone', async () => await page.getByLabel('Tool', { exact: true }).inputValue() === '')
  })

  t.test('a job is run again, and its output is text whatever it holds', async t => {
    const { id } = await submit(client, { type: 'agentcli.count_words', input: { path: attack } })
    await reach(client, id, 'succeeded')
    const { page, problems } = await browser.open()
    await openConsole(page, address)
    await page.goto(`${address}/#/jobs/${id}`)
    await page.getByText('window.attacked').first().waitFor()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.waitForURL(url => url.hash.startsWith('#/jobs/') && !url.hash.endsWith(id))
    await page.getByRole('heading', { name: 'count_words' }).getByText('succeeded').waitFor()
    t.equal(await page.evaluate('window.attacked'), undefined)
    t.same(problems, [])
  })

  t.test('a tool is found, called by its form, and watched; it is switched off and on', async t => {
    const { page } = await browser.open()
    await openConsole(page, address)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tools' }).click()
    // The page before has rows as well.
    await page.locator('tbody tr').filter({ hasText: 'built in' }).first().waitFor()
    const kinds = (await page.locator('tbody tr').allInnerTexts()).map(text => text.includes('built in'))
    t.same(kinds, kinds.toSorted((a, b) => Number(a) - Number(b)), 'tools of manifests come before those that are built in')
    t.same([kinds[0], kinds.at(-1)], [false, true], 'there are both')
    await page.getByLabel('Search tools').fill('counts words')
    await page.getByRole('link', { name: 'count_words' }).click()
    await page.getByLabel('longest').fill('many')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText("'path' must be filled in.").waitFor()
    await page.getByText("'longest' must be a number.").waitFor()
    await page.locator('#arg-path:focus').waitFor()
    await isAccessible(t, page, 'a form with faults')
    await page.getByLabel('path').fill('by-form.md')
    await page.getByLabel('longest').fill('99')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.locator('#arg-longest-fault').getByText(/20/).waitFor()
    await page.getByLabel('language').selectOption('de')
    await page.getByLabel('longest').fill('many')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText("'longest' must be a number").waitFor()
    await page.getByLabel('longest').fill('3')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('"extraordinarily"').or(page.getByText('1204')).first().waitFor()
    await page.getByText('reading by-form.md').waitFor()
    await page.getByRole('link', { name: 'Open the job' }).click()
    await page.getByRole('heading', { name: 'Arguments' }).waitFor()
    await page.goto(`${address}/#/tools/rates`)
    await page.getByText('reaches rates.example, and no other host').waitFor()
    t.equal(await page.locator('.about').innerText(), 'Tells the rates of a day.\n\nOf the days from 1999 on.')
    await page.goto(`${address}/#/tools/draw`)
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByRole('button', { name: 'Switch off' }).waitFor()
  })

  t.test('a key is made, shown once, and revoked', async t => {
    const { page } = await browser.open()
    await openConsole(page, address)
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByLabel('Name', { exact: true }).fill('by page')
    await page.getByLabel('Tenant').fill('acme')
    await page.getByRole('button', { name: 'Make a key' }).click()
    const dialog = page.getByRole('dialog')
    const key = await dialog.locator('code').innerText()
    t.match((await client.request('/v1/auth/whoami', { key })).body, { auth: { name: 'by page', tenant: 'acme' } })
    await dialog.getByRole('button', { name: 'I have stored it' }).click()
    t.notMatch(await page.content(), key)
    await page.getByRole('button', { name: 'Revoke by page' }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByRole('button', { name: 'Revoke by page' }).waitFor({ state: 'detached' })
  })

  t.test('a key is made for some queues, and for tools without some permissions', async t => {
    const { page } = await browser.open()
    await openConsole(page, address)
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByLabel('Name', { exact: true }).fill('limited here')
    await page.getByLabel('Queues').fill('default, reports')
    await page.getByLabel('network').uncheck()
    await page.getByRole('button', { name: 'Make a key' }).click()
    const key = await page.getByRole('dialog').locator('code').innerText()
    const { keys } = (await client.request<{ keys: Array<{ name: string }> }>('/v1/keys')).body
    t.match(keys.find(({ name }) => name === 'limited here'), { queue_allowlist: ['default', 'reports'], permissions: ['read_repo', 'write_files'] })
    t.equal((await client.request('/v1/auth/whoami', { key })).status, 200)
    await client.request('/v1/keys/limited%20here', { method: 'DELETE' })
  })

  t.test('a revoked key ends the page, and a key that may only read has no buttons', async t => {
    const made = await client.request<{ key: { key: string } }>('/v1/keys', { body: { name: 'guest', role: 'read' } })
    const { page } = await browser.open()
    await openConsole(page, address, made.body.key.key)
    await page.getByText('read only').waitFor()
    await page.getByRole('link', { name: 'slow_import' }).first().click()
    await page.getByRole('heading', { name: 'slow_import' }).waitFor()
    t.equal(await page.getByRole('button', { name: /Cancel|Run again/ }).count(), 0)
    await page.keyboard.press('Escape')
    // The list and its counts are refused together: the second refusal must not take the notice away.
    const held = new Map<string, Route>()
    let isOver = false
    await page.route(/\/v1\/jobs(?:\/counts)?\?/, async route => {
      if (isOver) await route.continue()
      else held.set(new URL(route.request().url()).pathname, route)
    })
    await waitFor('both requests', () => held.size === 2)
    isOver = true
    await client.request('/v1/keys/guest', { method: 'DELETE' })
    await Promise.all([...held.values()].map(async route => { await route.continue() }))
    await page.getByText('Your login is over').waitFor()
    await page.getByLabel('API key').fill(testKeys.admin)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'slow_import' }).first().waitFor()
  })

  t.test('it works behind a proxy with a path of its own, and logs out', async t => {
    const api = await service.startApi({ BASE_PATH: '/tools' })
    const at = await startProxy(t, api.address, '/tools')
    const { page, problems } = await browser.open()
    await openConsole(page, at)
    await page.getByRole('link', { name: 'slow_import' }).first().waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('You are logged out.').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
    t.same(problems, [])
  })
})
