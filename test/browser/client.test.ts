import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Page } from 'playwright-core'
import { clientFiles, clientTools } from '../client/tools.ts'
import { listening } from '../support/listening.ts'
import { createService, testKeys } from '../support/service.ts'
import { startBrowser } from './browser.ts'

const dist = dirname(fileURLToPath(import.meta.resolve('@toolyard/client')))
const browser = await startBrowser(t)

/** It runs in the browser, where `apiKey` and `url` are put into it. */
const program = `
const { Toolyard } = await import('/app/client/index.js')
const toolyard = new Toolyard({ url, apiKey, retryMs: 0 })
const told = { tools: (await toolyard.tools('chat')).map(tool => tool.function.name) }
told.sum = await toolyard.call('add', { a: 2, b: 3 })
told.failure = await toolyard.call('fail', {}).catch(error => [error.name, error.code, error.message])
const message = { role: 'assistant', content: null, tool_calls: [{ id: '1', type: 'function', function: { name: 'add', arguments: '{"a": 1, "b": 1}' } }] }
told.answers = await toolyard.invoke(message)
const job = await toolyard.jobs.submit({ type: 'agentcli.add', input: { a: 4, b: 5 } })
told.events = []
for await (const event of toolyard.follow(job)) told.events.push(event.type === 'end' ? event.job.result : event.type)
return told
`

interface Told {
  tools: string[]
  sum: unknown
  failure: string[]
  answers: Array<{ tool_call_id: string, content: string }>
  events: unknown[]
}

/** A page at an address, with the client's files beside it. */
async function openPage (page: Page, origin: string): Promise<void> {
  await page.route(`${origin}/app/**`, async route => {
    const { pathname } = new URL(route.request().url())
    const file = /^\/app\/client\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(pathname)?.[1]
    if (file === undefined) await route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>app</title>' })
    else await route.fulfill({ contentType: 'text/javascript', body: await readFile(join(dist, file), 'utf8') })
  })
  await page.goto(`${origin}/app/`)
}

void t.test('the client for TypeScript in a browser', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const service = await createService(t, { files: clientFiles, tools: clientTools })
  const { address } = service.api

  t.test("a page at the API's address lists tools, calls them, answers a model's message and follows a job", async t => {
    for (const url of [address, '']) {
      const { page, problems } = await browser.open()
      await openPage(page, address)
      const told = await page.evaluate<Told>(`(async (url, apiKey) => {${program}})(${JSON.stringify(url)}, ${JSON.stringify(testKeys.admin)})`)
      t.ok(told.tools.includes('add'))
      t.strictSame(told.sum, { sum: 5 })
      t.strictSame(told.failure, ['ToolError', 'TOOL_FAILED', 'the well is dry'])
      t.strictSame(told.answers.map(({ tool_call_id: id, content }) => [id, content]), [['1', '{"ok":true,"result":{"sum":2}}']])
      t.strictSame(told.events.at(-1), { sum: 9 })
      t.strictSame(problems, [])
    }
  })

  t.test('a page at another address gets no answer, and an error with what was tried', async t => {
    const elsewhere = createServer((_request, response) => { response.end() })
    await listening(t, elsewhere)
    const { page } = await browser.open()
    await openPage(page, `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`)
    // No header of the API lets the page read an answer.
    const failed = await page.evaluate<string[]>(`(async (url, apiKey) => {
      const { Toolyard } = await import('/app/client/index.js')
      return await new Toolyard({ url, apiKey, retryMs: 0 }).call('add', { a: 2, b: 3 }).catch(error => [error.name, error.code, error.message])
    })(${JSON.stringify(address)}, ${JSON.stringify(testKeys.admin)})`)
    t.strictSame(failed.slice(0, 2), ['ToolyardError', 'UNREACHABLE'])
    t.match(failed[2], address)
  })
})
