import t from 'tap'
import { list, reach, submit } from '../jobs/submission.ts'
import { plainRedis } from '../support/connection.ts'
import { createService, testKeys } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'
import { consoleEnv, consoleFiles, consoleTools } from './console-service.ts'
import { fillFinished } from './finished-jobs.ts'

const browser = await startBrowser(t)
const many = 100_000
const hourMs = 3_600_000

void t.test('one of 100,000 jobs that have ended is found', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const service = await createService(t, { files: consoleFiles, tools: consoleTools, env: { ...consoleEnv, JOB_RETENTION_COUNT: '200000' } })
  const { client, api: { address } } = service
  const redis = plainRedis(t, service.redis)
  const end = async (body: object, key: string): Promise<{ id: string, worker: string | null }> => await reach(client, (await submit(client, body, { key })).id, 'succeeded', 'failed')
  const usual = await end({ type: 'agentcli.count_words', input: { path: 'a.md' } }, testKeys.admin)
  const faulty = await end({ type: 'agentcli.send_report', input: { day: '2026-11-23' } }, testKeys.admin)
  const drawn = await end({ type: 'agentcli.draw' }, testKeys.admin)
  await client.request('/v1/keys', { body: { name: 'rare key', role: 'admin' } })
    .then(async ({ body }) => await end({ type: 'agentcli.count_words', input: { path: 'by-rare-key.md' } }, (body as { key: { key: string } }).key.key))
  // Found from the oldest to the newest: the single ones are looked for behind all others.
  await fillFinished(redis, [{ id: usual.id, queue: 'default', state: 'completed', count: many - 1 }], Date.now() + hourMs)
  await fillFinished(redis, [{ id: faulty.id, queue: 'default', state: 'failed', count: 1 }], Date.now() - hourMs)

  t.test('at the API, by id, tool, code, key, worker, text and time', async t => {
    const found = async (name: string, query: string): Promise<string[]> => {
      const since = performance.now()
      const ids: string[] = []
      for (let cursor = ''; ;) {
        const { jobs, next_cursor: next } = await list(client, `?${query}${cursor}`)
        ids.push(...jobs.map(({ id }) => id))
        if (next === null) break
        cursor = `&cursor=${next}`
      }
      t.comment(`${name}: ${Math.round(performance.now() - since)} ms`)
      return ids
    }
    t.equal((await client.request(`/v1/jobs/${drawn.id}`)).status, 200)
    t.same(await found('tool', 'tool=draw'), [drawn.id])
    t.equal((await found('code', 'code=TOOL_FAILED')).length, 2)
    t.equal((await found('key', 'key=rare+key')).length, 1)
    t.equal((await found('text', 'text=by-rare-key')).length, 1)
    t.equal((await found('state', 'status=failed')).length, 2)
    t.equal((await found('time', `to=${new Date(Date.now() - hourMs / 2).toISOString()}`)).length, 1)
    t.equal((await found('worker', 'worker=nobody')).length, 0)
    const since = performance.now()
    const { body } = await client.request<{ total: number, complete: boolean }>('/v1/jobs/counts')
    t.comment(`counts of all: ${Math.round(performance.now() - since)} ms`)
    t.equal(body.complete, false)
  })

  t.test('at the console, by tool, code, key, text and id', async t => {
    const { page } = await browser.open()
    await openConsole(page, address)
    const rows = page.locator('tbody tr')
    const enter = async (label: string, text: string): Promise<void> => {
      await page.getByLabel(label, { exact: true }).fill(text)
      await page.keyboard.press('Enter')
    }
    await page.getByText(/^More than 10,\d+ jobs/).waitFor()
    await enter('Tool', 'draw')
    await page.getByText('1 job: 1 succeeded').waitFor()
    await rows.getByText(drawn.id.slice(-8)).waitFor()
    await page.goto(`${address}/#/jobs`)
    await page.getByLabel('Error code').selectOption('TOOL_FAILED')
    await page.getByText('2 jobs: 2 failed').waitFor()
    await rows.getByText(faulty.id.slice(-8)).first().waitFor()
    await page.goto(`${address}/#/jobs`)
    await enter('Key', 'rare key')
    await page.getByText('1 job: 1 succeeded').waitFor()
    await page.goto(`${address}/#/jobs`)
    await enter('Text in arguments or error, or an id', 'by-rare-key')
    await page.getByText('1 job: 1 succeeded').waitFor()
    await enter('Text in arguments or error, or an id', ` ${drawn.id.toUpperCase()}`)
    await page.getByRole('heading', { name: 'draw' }).waitFor()
    await page.goto(`${address}/#/jobs?order=oldest`)
    await rows.first().getByText('send_report').waitFor()
  })
})
