import t from 'tap'
import { cancel, reach, read, submit } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'
import { consoleEnv, consoleFiles, consoleTools } from './console-service.ts'

const browser = await startBrowser(t)

void t.test('workers at the console', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const service = await createService(t, { files: consoleFiles, tools: consoleTools, env: consoleEnv })
  const { client, api: { address } } = service

  t.test('the operator drains a worker, which is asked first; it ends its call and takes none until it is resumed, and a stopped one stays in the list', async t => {
    const { page, problems } = await browser.open()
    const { id } = await submit(client, { type: 'agentcli.slow_import' })
    await reach(client, id, 'running')
    await openConsole(page, address)
    await page.getByRole('link', { name: 'Workers', exact: true }).first().click()
    await page.getByRole('button', { name: /^Drain / }).click()
    await page.getByText('No other worker takes jobs: they wait then.').waitFor()
    await page.getByRole('button', { name: 'Drain the worker' }).click()
    await page.getByText('draining', { exact: true }).waitFor()
    await cancel(client, id)
    await page.getByText('drained', { exact: true }).waitFor()
    const waiting = await submit(client, { type: 'agentcli.draw' })
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: 'Queue default stands still: its workers are drained.' }).click()
    t.equal((await read(client, waiting.id)).status, 'queued')
    await page.getByRole('button', { name: /^Resume / }).click()
    await reach(client, waiting.id, 'succeeded')
    await page.getByRole('button', { name: /^Drain / }).waitFor()
    const other = await service.startWorker()
    await page.getByText('2 alive').waitFor()
    await other.stop('SIGTERM')
    await page.getByText('1 alive').waitFor()
    await page.locator('.gone tr', { hasText: 'stopped' }).waitFor()
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByText('drained the worker').waitFor()
    t.same(problems, [])
  })

  t.test('the list of jobs shows how their arguments begin and the last line of an error; the jobs of one batch are a waterfall', async t => {
    const { page, problems } = await browser.open()
    const { results: [first] } = await client.batch([
      { call_id: 'a', name: 'count_words', arguments: { path: '<img src=x onerror=alert(1)>' } }, { call_id: 'b', name: 'send_report', arguments: { day: 'monday' } }
    ])
    await openConsole(page, address)
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.locator('.jobs .input', { hasText: '{"path":"<img src=x onerror=alert(1)>","longest":2}' }).waitFor()
    await page.locator('.jobs td.clip', { hasText: 'TOOL_FAILED the mail host does not answer' }).waitFor()
    t.equal(await page.getByText('agent-tool').count(), 0)
    await page.goto(`${address}/#/jobs/${String(first?.job_id)}`)
    await page.locator('a[title="The jobs that the same request made"]').click()
    await page.getByRole('heading', { name: /^One request: 2 jobs in / }).waitFor()
    const rows = page.locator('.waterfall li')
    t.same(await rows.locator('.name a').allTextContents(), ['count_words', 'send_report'])
    t.same(await rows.locator('.status .word').allTextContents(), ['succeeded', 'failed'])
    t.ok(await rows.nth(0).locator('.runs').evaluate(bar => parseFloat((bar as unknown as { style: { width: string } }).style.width) > 0), 'it has a bar')
    t.same(problems, [])
  })
})
