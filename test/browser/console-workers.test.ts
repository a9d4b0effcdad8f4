import t from 'tap'
import { cancel, reach, read, submit } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'
import { isAccessible } from './axe.ts'
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
    const other = await service.startWorker({ WORKER_CONCURRENCY: '100' })
    await page.getByText('2 alive').waitFor()
    const cut = await page.locator('.workers').first().locator('td:not(:first-child)').evaluateAll(cells => cells.filter(cell => cell.title !== cell.textContent && cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent))
    t.same(cut, [], 'what is cut can be read in its title')
    await other.stop('SIGTERM')
    await page.getByText('1 alive').waitFor()
    await page.locator('.gone tr', { hasText: 'stopped' }).waitFor()
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByText('drained the worker').waitFor()
    t.same(problems, [])
  })

  t.test('a worker has a page: what it is, what it runs and ran, who drained it; a stopped one keeps its page', async t => {
    const { page, problems } = await browser.open()
    const other = await service.startWorker({ WORKER_QUEUES: 'own' })
    const { id } = await submit(client, { type: 'agentcli.slow_import', queue: 'own' })
    await reach(client, id, 'running')
    await openConsole(page, address)
    await page.goto(`${address}/#/jobs/${id}`)
    await page.locator('.facts div', { hasText: 'Worker' }).getByRole('link').click()
    await page.getByRole('heading', { name: /^Worker / }).waitFor()
    await page.locator('section', { has: page.getByRole('heading', { name: 'Runs now' }) }).getByRole('link', { name: 'slow_import' }).waitFor()
    await page.locator('.facts div', { hasText: 'Queues' }).getByText('own').waitFor()
    await page.getByRole('button', { name: 'Drain', exact: true }).click()
    await page.getByRole('button', { name: 'Drain the worker' }).click()
    await page.locator('.facts').getByText('draining', { exact: true }).waitFor()
    await cancel(client, id)
    await page.locator('.facts').getByText('drained', { exact: true }).waitFor()
    await page.locator('section', { has: page.getByRole('heading', { name: 'Ran last' }) }).getByRole('link', { name: 'slow_import' }).waitFor()
    await page.reload()
    await page.getByText('admin drained it').waitFor()
    await isAccessible(t, page, 'the page of a worker')
    await other.stop('SIGKILL')
    await page.locator('.facts').getByText('lost', { exact: true }).waitFor()
    await page.goto(`${address}/#/workers/00000000-0000-4000-8000-000000000000`)
    await page.getByText('This worker is not alive').waitFor()
    t.same(problems, [])
  })

  t.test('a workflow shows when each of its steps waited and ran', async t => {
    const { page, problems } = await browser.open()
    const { id } = await submit(client, { type: 'workflow.run', input: { workflow: 'nightly' }, timeout_sec: 600 })
    await openConsole(page, address)
    await page.goto(`${address}/#/workflows/${id}`)
    const rows = page.locator('.waterfall li')
    await rows.filter({ hasText: 'import' }).locator('.status', { hasText: 'running' }).waitFor()
    t.same(await rows.locator('.name').allTextContents().then(names => names.map(name => name.split(' ')[0])), ['fetch', 'check', 'join', 'chart', 'import', 'send'])
    t.match(await rows.nth(0).locator('.took').textContent(), /^\d+ ms|s$/)
    t.equal(await rows.nth(5).locator('.status .word').textContent(), 'waiting')
    t.equal(await rows.nth(5).locator('.track span').count(), 0, 'what has no job has no bar')
    const left = async (place: number): Promise<number> => await rows.nth(place).locator('.runs').evaluate(bar => parseFloat((bar as unknown as { style: { left: string } }).style.left))
    t.ok(await left(2) > await left(0), 'a step begins after those that it waits for')
    await cancel(client, id)
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

  // The last: nobody can log in from this address any more.
  t.test('who has tried too many keys reads how long to wait, and what may be the cause', async t => {
    const { page } = await browser.open()
    await page.goto(`${address}/`)
    for (let attempt = 0; attempt < 11; attempt++) {
      const answered = page.waitForResponse(response => response.url().endsWith('/v1/auth/login'))
      await page.getByLabel('API key').fill(`wrong-${attempt}`)
      await page.getByRole('button', { name: 'Log in' }).click()
      await answered
    }
    await page.getByText('Too many attempts to log in. Try again in 5 min.').waitFor()
    await page.getByText('behind a proxy it must have TRUST_PROXY').waitFor()
    await isAccessible(t, page, 'the login')
  })
})
