import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { startProxy } from './proxy.ts'

const script = (text: string): string => `#!/usr/bin/env node\n${text}\n`
const attack = '<script>window.attacked = 1</script><img src=x onerror="window.attacked = 1">'
const files = {
  'tools/bin/breaks': script(`
    console.error('looking for the part ${attack}')
    process.exit(3)`),
  'tools/bin/attacks': script(`console.log(JSON.stringify({ html: ${JSON.stringify(attack)}, ${JSON.stringify(JSON.stringify(attack))}: [${JSON.stringify(attack)}] }))`)
}
const tools = ['breaks', 'attacks'].map(name => ({ name, description: name, schema: { type: 'object' }, command: [`./tools/bin/${name}`] }))
const browser = await startBrowser(t)

void t.test('the dashboard in a browser', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const service = await createService(t, { files, tools })
  const { client } = service
  const base = `${service.api.address}/dashboard`

  const ended = async (tool: string): Promise<string> => {
    const { id } = await submit(client, { type: `agentcli.${tool}` })
    await reach(client, id, 'succeeded', 'failed')
    return id
  }
  t.test('an operator logs in at the console, finds a failed job, reads its error and log, and logs out', async t => {
    const id = await ended('breaks')
    const { page, problems } = await browser.open()
    await page.goto(base)
    await page.getByLabel('API key').fill('nonsense')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').getByText('No such API key.').waitFor()
    await logIn(page, base)

    await page.getByRole('main').getByText('default', { exact: true }).first().click()
    await page.locator('a[href*="status=failed"]').first().click()
    await page.getByText(id).first().waitFor()
    t.match(new URL(page.url()).pathname, '/dashboard/queue/default')
    await page.goto(`${base}/queue/default/${id}`)
    await openTab(page, 'Error')
    await page.getByText('TOOL_FAILED: looking for the part').first().waitFor()
    await openTab(page, 'Logs')
    await page.getByText(/Z info looking for the part/).first().waitFor()

    t.equal(await icon(page, 'refresh-cw').count(), 0, 'it only shows')
    await page.goto(service.api.address)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.goto(`${base}/queue/default/${id}`)
    await page.waitForURL(/then=dashboard/)
    t.equal(await page.evaluate('window.attacked'), undefined)
    t.same(problems.filter(isUnexpected), [])
  })

  t.test('fault 42 a script in a result is shown as text and doesn\'t run', async t => {
    const id = await ended('attacks')
    const { page, problems } = await browser.open()
    await logIn(page, base)
    for (const path of ['/queue/default', `/queue/default/${id}`]) {
      await page.goto(base + path)
      await page.getByText('window.attacked').first().waitFor()
      t.equal(await page.locator('img[src=x]').count(), 0)
      t.equal(await page.evaluate('window.attacked'), undefined)
    }
    t.same(problems.filter(isUnexpected), [], 'nothing of it needed to be stopped by the policy')
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.attacked = 1\">')")
    await waitFor('the policy stops what is put in all the same', () => problems.filter(isUnexpected).some(problem => problem.includes('Content Security Policy')))
    t.equal(await page.evaluate('window.attacked'), undefined)
  })

  t.test('the dashboard has no buttons that change anything, also behind a proxy with a path of its own', async t => {
    const id = await ended('attacks')
    const api = await service.startApi({ BASE_PATH: '/tools' })
    const proxy = await startProxy(t, api.address, '/tools')
    const { page, problems } = await browser.open()
    await logIn(page, `${proxy}/dashboard`)
    await page.getByRole('main').getByText('default', { exact: true }).first().click()
    await page.getByText(id).first().waitFor()
    await page.goto(`${proxy}/dashboard/queue/default/${id}`)
    await page.getByText('window.attacked').first().waitFor()
    for (const name of ['trash-2', 'files', 'pencil', 'clock', 'refresh-cw']) t.equal(await icon(page, name).count(), 0, name)
    t.same(problems.filter(isUnexpected), [])
  })
})

/** bull-board's page has a link to fonts of another host, which its policy keeps it from loading. */
function isUnexpected (problem: string): boolean {
  return !problem.includes('fonts.googleapis.com')
}

/** Logs in where the page sees the dashboard. */
async function logIn (page: Page, at: string): Promise<void> {
  await page.goto(at)
  await page.getByLabel('API key').fill(testKeys.admin)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(`${at}**`)
}

function icon (where: Page | Locator, name: string): Locator {
  return where.locator(`button:has(svg.lucide-${name})`)
}

async function openTab (page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).or(page.getByRole('tab', { name, exact: true })).first().click()
}
