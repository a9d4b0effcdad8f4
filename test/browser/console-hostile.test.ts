import t from 'tap'
import { list, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'

const say = {
  name: 'say', description: 'Puts out a text.', schema: { type: 'object', properties: { text: { type: 'string' } } }, command: ['./tools/bin/say'], permissions: []
}
const held = { ...say, name: 'pay', description: 'Pays.', approval: { self: true, reason: 'A person looks at payments.' } }
const long = 'name_without_end_'.repeat(8)
const wide = {
  ...say,
  name: long.slice(0, 64),
  schema: { type: 'object', properties: { [long]: { type: 'string' }, group: { type: 'object', properties: { [long]: { type: 'string' }, list: { type: 'array' } } } } }
}
const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, evil: { tenant: 'evil' } })
const files = {
  'tools/bin/say': "#!/usr/bin/env node\nconst { text, times = 1, logs = 0 } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))\nfor (let n = 0; n < logs; n++) console.error(text)\nif (logs === 0) process.stdout.write(text.repeat(times))\n"
}
/** A picture of 2 KB with eight million rectangles: a browser that draws it stands still until it has no memory left. */
const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><g id="a0"><path d="M0 0h1v1z"/></g>${
  Array.from({ length: 8 }, (_, at) => `<g id="a${at + 1}">${`<use href="#a${at}"/>`.repeat(8)}</g>`).join('')
}</svg>`
const browser = await startBrowser(t)

void t.test('the console goes on, whatever tools put out and files hold', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const { client, api: { address } } = await createService(t, { tools: [say, held, wide], files, env: { MAX_OUTPUT_BYTES: '4194304', API_KEYS_JSON } })
  const { page, problems } = await browser.open()
  await openConsole(page, address)

  async function open (input: object): Promise<void> {
    const { id } = await submit(client, { type: 'agentcli.say', input })
    await reach(client, id, 'succeeded')
    await page.goto(`${address}/#/jobs/${id}`)
    await page.getByText(id).first().waitFor()
  }
  const shown = async (selector: string): Promise<number> => (await page.locator(selector).allInnerTexts()).join('').length

  t.test('a picture that is a program (SVG) is shown as its text, of an output and of a file', async t => {
    await open({ text: `data:image/svg+xml;base64,${Buffer.from(bomb).toString('base64')}` })
    await page.getByText('data:image/svg+xml').first().waitFor()
    t.equal(await page.locator('img.picture').count(), 0)
    const session = await client.session()
    await client.request(`/v1/sessions/${session}/files/bomb.svg`, { method: 'PUT', body: bomb })
    await page.goto(`${address}/#/sessions/${session}?file=bomb.svg`)
    await page.getByText('<use href="#a7"/>').first().waitFor()
    t.equal(await page.locator('img.picture').count(), 0)
  })

  t.test('names that are longer than a narrow page make nothing wider than it', async t => {
    const { id } = await submit(client, { type: `agentcli.${wide.name}`, input: { text: 'a', [long]: 'a' }, queue: 'q'.repeat(80), tags: ['t'.repeat(60)] })
    await reach(client, id, 'succeeded')
    await page.setViewportSize({ width: 360, height: 900 })
    for (const path of ['overview', 'jobs', `jobs/${id}`, 'tools', `tools/${wide.name}`]) {
      await page.goto(`${address}/#/${path}`)
      await page.getByText(wide.name).first().waitFor()
      await waitFor(`${path} is as wide as the page`, async () => await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'))
    }
    await page.setViewportSize({ width: 1_300, height: 900 })
  })

  t.test('of a long text its beginning is shown, and more where somebody asks for it', async t => {
    const unit = '\u202e\u0600\u0634\u202d\u2066🙂'
    await open({ text: unit, times: 60_000 })
    await page.getByRole('button', { name: /^\d+ more characters$/ }).waitFor()
    const first = await shown('pre.text')
    t.ok(first > 10_000 && first < 50_000, `${first} characters`)
    t.notMatch(await page.locator('pre.text').innerText(), /[\ud800-\udbff](?![\udc00-\udfff])/u, 'no character is cut')
    await page.getByRole('button', { name: /more characters/ }).click()
    await waitFor('more of it is shown', async () => await shown('pre.text') > 1.5 * first)
    await open({ text: JSON.stringify({ [unit.repeat(20_000)]: 1 }) })
    await page.locator('.json-name').getByRole('button', { name: /more characters/ }).first().waitFor()
    await open({ text: JSON.stringify({ field: unit.repeat(20_000) }) })
    await page.locator('.json').getByRole('button', { name: /more characters/ }).first().waitFor()
    t.ok(await shown('.json') < 150_000)
  })

  t.test('of a log as many of the last lines are shown as can be drawn', async t => {
    await open({ text: '\u202e\u0634'.repeat(2_000), logs: 2_000 })
    await waitFor('the log is drawn', async () => await shown('.log') > 100_000)
    const chars = await shown('.log')
    t.ok(chars < 1_000_000, `${chars} characters`)
  })

  t.test('the name of a file is shown as it is: what turns the direction of writing is escaped', async t => {
    const session = await client.session()
    const name = 'invoice\u202egpj.exe'
    await client.request(`/v1/sessions/${session}/files/${encodeURIComponent(name)}`, { method: 'PUT', body: 'MZ' })
    await page.goto(`${address}/#/sessions/${session}?file=${encodeURIComponent(name)}`)
    await page.getByRole('heading', { name: 'invoice\\u202egpj.exe' }).waitFor()
    t.notMatch(await page.locator('main').innerText(), /\u202e/)
  })

  t.test('however many calls of one tenant are held, that of another one is found, by its tenant and by the pages of the list', async t => {
    const hold = async (key: string, count: number): Promise<void> => {
      const calls = Array.from({ length: count }, (_, at) => ({ call_id: String(at), name: 'pay', arguments: { text: `of ${key}` } }))
      await client.batch(calls, { mode: 'async' }, key)
    }
    await hold(keys.acme, 1)
    for (let batch = 0; batch < 3; batch++) await hold(keys.evil, 20)
    await page.goto(`${address}/#/approvals`)
    const rows = page.locator('tbody tr')
    await rows.filter({ hasText: 'evil' }).first().waitFor()
    t.equal(await rows.filter({ hasText: 'acme' }).count(), 0)
    await page.getByRole('link', { name: 'Older' }).click()
    await rows.filter({ hasText: 'acme' }).waitFor()
    await page.getByRole('link', { name: 'Newest' }).click()
    await page.getByRole('link', { name: 'Older' }).waitFor()
    await page.getByLabel('Tenant').fill('acme')
    await page.keyboard.press('Enter')
    await rows.filter({ hasText: 'acme' }).waitFor()
    t.equal(await rows.count(), 1)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('No call here waits for an approval.').waitFor()
  })

  t.test('however many sessions one tenant has, those of another one are found by its tenant', async t => {
    const id = await client.session(keys.acme)
    for (let count = 0; count < 50; count++) await client.session(keys.evil)
    await page.goto(`${address}/#/sessions`)
    await page.locator('tbody tr').filter({ hasText: 'evil' }).first().waitFor()
    t.equal(await page.getByText(id.slice(-12)).count(), 0)
    await page.getByLabel('Tenant').fill('acme')
    await page.keyboard.press('Enter')
    await page.getByText(id.slice(-12)).waitFor()
    t.equal(await page.locator('tbody tr').count(), 1)
  })

  t.test('who runs a job of a tenant again as the operator is told whose rights and secrets it has then', async t => {
    const { results: [result] } = await client.batch([{ call_id: 'a', name: 'say', arguments: { text: 'mine' } }], {}, keys.evil)
    await page.goto(`${address}/#/jobs/${String(result?.job_id)}`)
    await page.getByRole('button', { name: 'Run again' }).click()
    const dialog = page.getByRole('dialog')
    t.match(await dialog.innerText(), /the rights and the secrets of your key\. It was submitted by the tenant evil/)
    await dialog.getByRole('button', { name: 'Back' }).click()
    t.equal((await list(client, '?tool=say&key=admin&text=mine')).jobs.length, 0)
    await page.getByRole('button', { name: 'Run again' }).click()
    await dialog.getByRole('button', { name: 'Run it as mine' }).click()
    await waitFor('it runs again', async () => (await list(client, '?tool=say&key=admin&text=mine')).jobs.length === 1)
  })

  t.test('a page for one key asks nothing in the name of another one, with which another tab has logged in', async t => {
    const other = await page.context().newPage()
    await page.goto(`${address}/#/jobs`)
    await other.goto(`${address}/#/jobs`)
    for (const each of [page, other]) await each.getByRole('navigation', { name: 'Pages' }).getByText('Workers').waitFor()
    await other.evaluate(`fetch('/v1/auth/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"key": "${keys.evil}"}' })`)
    for (const each of [page, other]) await each.getByText('another tab has logged in with another key').waitFor()
    await other.reload()
    await other.getByRole('navigation', { name: 'Pages' }).waitFor()
    t.equal(await other.getByRole('navigation', { name: 'Pages' }).getByText('Workers').count(), 0, 'a page that is loaded again is that of the login')
    await other.close()
  })

  t.same(problems, [])
})
