import t from 'tap'
import { reach, submit } from '../jobs/submission.ts'
import { createService } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'
import { consoleFiles, consoleTools } from './console-service.ts'

const browser = await startBrowser(t)

void t.test('what a tool asks is answered at the console: a form, in place of a model as text, and directories as JSON', {
  skip: typeof browser === 'string' && browser
}, async t => {
  if (typeof browser === 'string') return
  const { client, api: { address } } = await createService(t, {
    files: consoleFiles, tools: [...consoleTools, { name: 'pay', description: 'Pays.', command: ['./tools/bin/draw'], approval: 'required' }]
  })
  const { id } = await submit(client, { type: 'agentcli.plan_trip' })
  await reach(client, id, 'input_required')
  const { page, problems } = await browser.open()
  await openConsole(page, address)
  await page.goto(`${address}/#/jobs/${id}`)
  const of = (number: number) => page.getByRole('region', { name: `What the tool asks (${number})` })

  await of(2).getByText('You write short titles.').waitFor()
  await of(2).getByText('Give a title to a trip from Rome to Oslo.').waitFor()
  await of(2).getByLabel('What a model says').fill('Northbound')
  await of(2).getByRole('button', { name: 'Answer' }).click()
  await of(2).waitFor({ state: 'detached' })

  await of(3).getByLabel('Directories').fill('https://example.com')
  await of(3).getByRole('button', { name: 'Answer' }).click()
  await of(3).getByText('does not fit the question').waitFor()
  await of(3).getByRole('button', { name: 'Write it as JSON' }).click()
  await of(3).getByLabel('Answer, as JSON').fill('{"roots": [{"uri": "file:///trips", "name": "Trips"}]}')
  await of(3).getByRole('button', { name: 'Answer' }).click()
  await of(3).waitFor({ state: 'detached' })

  await of(1).getByRole('button', { name: 'Answer' }).click()
  await of(1).getByText("'seat' must be filled in").waitFor()
  await of(1).getByLabel('seat').selectOption('aisle')
  await of(1).getByRole('button', { name: 'Answer' }).click()

  const { result, attempts } = await reach(client, id, 'succeeded')
  t.match(result, {
    answers: [
      { seat: 'aisle' }, { role: 'assistant', content: { type: 'text', text: 'Northbound' }, model: 'person' }, { roots: [{ uri: 'file:///trips', name: 'Trips' }] }
    ]
  })
  t.equal(attempts, 2)

  // Who calls a tool on its page is told there what the call waits for.
  const call = async (tool: string): Promise<void> => {
    await page.goto(`${address}/#/tools/${tool}`)
    await page.getByRole('heading', { name: tool, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
  }
  await call('plan_trip')
  await of(1).getByLabel('seat').waitFor()
  await call('pay')
  await page.getByText('waits until somebody approves it').waitFor()
  await page.getByRole('link', { name: 'Look at it, and decide' }).click()
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  t.same(problems, [])
})
