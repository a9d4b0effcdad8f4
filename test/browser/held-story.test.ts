import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startModelServer } from '../examples/model-server.ts'
import type { Script } from '../examples/script.ts'
import { list } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'

/* What docs/approvals.md tells of an agent, with the files of that page. */

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = readFileSync(join(root, 'docs/approvals.md'), 'utf8')
const { keys, API_KEYS_JSON } = makeKeys({ admin: { name: 'agent' }, boss: { role: 'approver' } })

function shown (name: string): string {
  const [, text] = new RegExp(`\\\`\\\`\\\`\\w+ \\[${name.replaceAll('.', '\\.')}\\]\\n(.*?)\\\`\\\`\\\``, 's').exec(page) ?? []
  if (text === undefined) throw new Error(`docs/approvals.md does not show ${name}`)
  return text
}

const browser = await startBrowser(t)

void t.test('an agent pays three times in a turn: one call is held, survives a restart of everything, is approved in the console by another key, runs once, and the loop gets its result', {
  skip: typeof browser === 'string' && browser, timeout: 180_000
}, async t => {
  if (typeof browser === 'string') return
  const { tools } = JSON.parse(shown('tools.json')) as { tools: object[] }
  const service = await createService(t, {
    files: { 'tools/bin/pay.sh': shown('tools/bin/pay.sh') },
    tools,
    aof: true,
    env: { API_KEYS_JSON }
  })
  const { client, api: { address } } = service
  let isRestarted = false
  let waits = 0
  const script: Script = async answers => {
    if (answers.length === 0) return { calls: [20, 700, 35].map((amount, index) => ({ id: `call_${index}`, name: 'pay', args: { amount } })) }
    const last = answers.at(-1) ?? ''
    if (answers.length > 3 && !last.includes('"pending"')) return { text: `${answers.slice(0, 3).map(answer => answer.includes('"paid"') ? 'paid' : 'held').join(', ')}; then ${last}` }
    await waitFor('everything was restarted', () => isRestarted, 60_000)
    const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(answers[1] ?? '') ?? []
    return { calls: [{ id: `call_wait_${++waits}`, name: 'job_result', args: { job_id: id, wait_ms: 2_000 } }] }
  }
  const model = await startModelServer(t, script)
  const running = promisify(execFile)(process.execPath, [join(root, 'examples/openai-chat.mjs'), 'Pay the three bills.'], {
    env: { PATH: process.env['PATH'], TOOLYARD_URL: address, TOOLYARD_API_KEY: testKeys.admin, OPENAI_BASE_URL: `${model.address}/v1`, OPENAI_API_KEY: 'none' }
  })
  running.catch(() => {})
  const [held] = await waitFor('one call is held, and two have run', async () => {
    const { jobs } = await list(client, '?tool=pay')
    return jobs.filter(({ status }) => status === 'succeeded').length === 2 && jobs.filter(({ status }) => status === 'held')
  })
  await Promise.all([service.api, ...service.workers].map(each => each.stop('SIGKILL')))
  await service.redis.stop()
  await service.redis.start()
  await Promise.all([service.startApi({ PORT: new URL(address).port }), service.startWorker()])
  isRestarted = true
  await waitFor('the loop asks for the result', () => waits > 0)

  const { page: console, problems } = await browser.open()
  await openConsole(console, address, keys.boss)
  await console.getByRole('link', { name: /^Approvals/ }).click()
  await console.getByText('A person looks at payments above 500.').waitFor()
  await console.getByRole('button', { name: 'Approve' }).click()
  await console.getByText('No call waits for an approval.').waitFor()

  const { stdout } = await running
  t.match(stdout.trim(), /^paid, held, paid; then .*"paid":\s*true/)
  t.strictSame(model.faults, [], 'one answer for each call')
  const payments = readFileSync(join(service.dir, 'workspace/payments.txt'), 'utf8')
  t.same([20, 700, 35].map(amount => payments.split(`{"amount":${amount}}`).length - 1), [1, 1, 1], 'each ran once')
  t.match((await client.request(`/v1/jobs/${held?.id}`)).body, {
    job: { status: 'succeeded', attempts: 1, key: 'agent', approval: { decisions: [{ key: 'boss', decision: 'approve' }] } }
  })
  t.same(problems, [])
})
