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
})
