import t from 'tap'
import { cancel, list, reach, read, submit } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'
import { isAccessible } from './axe.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'
import { consoleEnv, consoleFiles, consoleTools } from './console-service.ts'

const pay = {
  name: 'pay', description: 'Pays.', schema: { type: 'object', properties: { path: { type: 'string' } } }, command: ['./tools/bin/count_words'], approval: { self: true, reason: 'A person looks at payments.' }
}
const browser = await startBrowser(t)

void t.test('what needs attention is dealt with from the overview', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const service = await createService(t, { files: consoleFiles, tools: [...consoleTools, pay], env: consoleEnv })
  const { client, api: { address } } = service

  t.test('a paused queue is told and marked, and resumed with the keyboard alone', async t => {
    const { page, problems } = await browser.open()
    const first = await submit(client, { type: 'agentcli.draw', queue: 'reports' })
    await reach(client, first.id, 'succeeded')
    await openConsole(page, address)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('button', { name: 'Pause reports' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Pause the queue reports?' }).waitFor()
    await page.getByRole('button', { name: 'Pause the queue', exact: true }).click()
    await page.locator('tr').filter({ hasText: 'reports' }).getByText('paused').waitFor()
    const { id } = await submit(client, { type: 'agentcli.draw', queue: 'reports' })
    // Before, it is told with another link.
    await page.getByText(/1 job waits, the oldest for .*Resume it when its jobs may run/).waitFor()
    await isAccessible(t, page, 'a paused queue')
    await page.getByRole('link', { name: 'Queue reports is paused.' }).click()
    await page.waitForURL(/queue=reports&status=queued/)
    await page.getByRole('link', { name: 'draw' }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Resume the queue reports' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Queue reports is paused.').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Pause reports' }).waitFor()
    await reach(client, id, 'succeeded')
    t.same(problems, [])
  })

  t.test('how far a job is stands in its row, on its page, and in the answer of a form; the whole row opens', async t => {
    const { page, problems } = await browser.open()
    const { id } = await submit(client, { type: 'slow_import' })
    await openConsole(page, address)
    await page.goto(`${address}/#/jobs`)
    const row = page.locator('tr').filter({ hasText: id.slice(-8) })
    await row.getByRole('progressbar').waitFor()
    await row.getByText(/\d+ of 4000 · rows/).waitFor()
    await row.locator('td').nth(2).click()
    await page.waitForURL(new RegExp(`#/jobs/${id}`))
    const bar = page.locator('main > .progress')
    await bar.getByText(/\d+ of 4000 · rows/).waitFor()
    await isAccessible(t, page, 'a job that tells how far it is')
    await client.request(`/v1/jobs/${id}/cancel`, { method: 'POST' })
    await bar.waitFor({ state: 'detached' })
    await page.goto(`${address}/#/tools/slow_import`)
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.locator('.call-result').getByText(/\d+ of 4000 · rows/).waitFor()
    t.same(problems, [])
  })

  t.test('a held call is found by its count, looked at beside the one before, and approved and denied', async t => {
    const ids: string[] = []
    const hold = async (path: string): Promise<void> => { ids.push((await submit(client, { type: 'agentcli.pay', input: { path } })).id) }
    await hold('first.csv')
    const { page, problems } = await browser.open()
    await openConsole(page, address)
    await page.getByRole('link', { name: /^Approvals/ }).click()
    await page.getByText('A person looks at payments.').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('No call waits for an approval.').waitFor()
    t.equal((await reach(client, ids[0] ?? '', 'succeeded')).status, 'succeeded')
    await hold('second.csv')
    await page.getByRole('cell', { name: '"first.csv"' }).waitFor()
    await hold('third.csv')
    await page.goto(`${address}/#/approvals/${ids[1] ?? ''}`)
    await page.getByRole('cell', { name: '"second.csv"', exact: true }).waitFor()
    for (const [colorScheme, width] of [['light', 1_300], ['dark', 360]] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await isAccessible(t, page, `a held call, ${colorScheme}`)
      t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, `nothing is wider than ${width} px`)
    }
    await page.getByLabel('Reason').fill('Ask first.')
    await page.getByRole('button', { name: 'Deny' }).click()
    t.match(await reach(client, ids[1] ?? '', 'failed'), { error: { code: 'APPROVAL_DENIED', message: /Ask first/ } })
    await page.getByRole('definition').getByText('denied').waitFor()
    await client.request(`/v1/jobs/${ids[2] ?? ''}/cancel`, { method: 'POST' })
    t.same(problems, [])
  })

  t.test('the call that somebody looks at stays where it is when others are held or decided, and its arguments are shown whole', async t => {
    const path = `report.csv${' '.repeat(200)}; and the end`
    const hold = async (text: string): Promise<string> => (await submit(client, { type: 'agentcli.pay', input: { path: text }, conversation: 'of \u202emine' })).id
    const looked = await hold(path)
    const { page, problems } = await browser.open()
    await openConsole(page, address)
    await page.getByRole('link', { name: /^Approvals/ }).click()
    const card = page.getByRole('region', { name: 'The call' })
    await card.getByRole('link', { name: looked }).waitFor()
    await card.getByRole('cell', { name: /and the end/ }).waitFor()
    t.equal(await card.getByRole('definition').getByText('of \\u202emine', { exact: true }).count(), 1, 'nor does what the caller names turn the direction of writing')
    t.equal(await page.evaluate("[...document.querySelectorAll('section td')].every(cell => cell.scrollWidth <= cell.clientWidth)"), true)
    const later = await hold('later.csv')
    await page.getByRole('row', { name: /later\.csv/ }).waitFor()
    t.equal(await card.getByRole('link', { name: looked }).isVisible(), true)
    await page.getByRole('button', { name: 'Approve' }).click()
    await card.getByText('approved', { exact: true }).waitFor()
    t.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0, 'a second click approves no other call')
    t.match(await reach(client, looked, 'succeeded', 'failed'), { approval: { state: 'approved' } })
    t.equal((await read(client, later)).status, 'held')
    await cancel(client, later)
    t.same(problems, [])
  })

  t.test('a session that is full is told; it is emptied on its page', async t => {
    const { body: { session } } = await client.request<{ session: { id: string } }>('/v1/sessions', { body: { quota_bytes: 65_536 } })
    t.match(await client.request(`/v1/sessions/${session.id}/files/large.bin`, { method: 'PUT', body: 'x'.repeat(60_000) }), { status: 201 })
    const { page, problems } = await browser.open()
    await openConsole(page, address)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: `Session ${session.id.slice(-12)} is almost full.` }).click()
    await page.getByText('almost full').waitFor()
    await page.getByRole('button', { name: 'Remove large.bin' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('link', { name: 'large.bin' }).waitFor({ state: 'detached' })
    await page.getByText('almost full').waitFor({ state: 'detached' })
    t.same(problems, [])
  })

  t.test('a worker that is lost is told, with what it ran; the job is run again when a worker is back', async t => {
    const { page, problems } = await browser.open()
    const { id } = await submit(client, { type: 'agentcli.slow_import' })
    await openConsole(page, address)
    await page.goto(`${address}/#/jobs/${id}`)
    await page.getByText('imported 100 of').waitFor()
    await service.workers[0]?.stop('SIGKILL')
    await service.startWorker()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: /^Worker .* went away\.$/ }).click()
    await page.getByText('its log, or that of its machine, says why it ended').waitFor()
    await page.getByRole('link', { name: 'failed with WORKER_LOST' }).click()
    await page.getByRole('link', { name: 'slow_import' }).first().click()
    // The list, which stays until the page of the job is drawn, says it as well.
    await page.getByRole('region', { name: 'Error' }).getByText('The worker that ran this job was lost').waitFor()
    t.equal(await page.locator('.facts').getByText('Worker', { exact: true }).count(), 0, 'the worker that only told of it is not named')
    await page.getByRole('button', { name: 'Run again' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.hash.startsWith('#/jobs/') && !url.hash.endsWith(id))
    await page.getByText('imported 100 of').waitFor()
    t.same(problems, [])
  })

  t.test('the form of a tool has a field for each value of a list and of an object', async t => {
    const { page, problems } = await browser.open()
    await openConsole(page, address)
    await page.goto(`${address}/#/tools/send_report`)
    await page.getByLabel('to', { exact: true }).fill('a@example.com\nb@example.com')
    const host = page.getByRole('group', { name: 'host' })
    await host.getByLabel('name').fill('mail.example')
    await host.getByLabel('port').fill('25')
    await isAccessible(t, page, 'the form')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('link', { name: 'Open the job' }).click()
    await page.getByRole('heading', { name: 'Arguments' }).waitFor()
    const { jobs: [made] } = await list(client, '?tool=send_report')
    t.match((await client.request(`/v1/jobs/${made?.id}`)).body, { job: { input: { to: ['a@example.com', 'b@example.com'], host: { name: 'mail.example', port: 25 } } } })
    t.same(problems, [])
  })
})
