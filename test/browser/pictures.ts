import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { WorkerList } from '@toolyard/contract'
import type { Page } from 'playwright-core'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys, type Service } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { consoleEnv, consoleFiles, consoleTools, fillConsole } from './console-service.ts'

/*
 * `node test/build/browser/pictures.js [DIRECTORY] [PAGE...]`: pictures of the pages of the console, in both themes and two widths.
 */

const [directory = 'pictures', ...wanted] = process.argv.slice(2)
const steps: Array<() => unknown> = []
const cleanup = { teardown: (step: () => unknown) => { steps.push(step) } }

const browser = await startBrowser(cleanup)
if (typeof browser === 'string') throw new Error(browser)
try {
  const service = await createService(cleanup, { files: consoleFiles, tools: consoleTools, env: consoleEnv })
  const pages = await fillConsole(service)
  const drained = await mixWorkers(service)
  pages.push(['worker', `#/workers/${drained}`, 'Last seen'], ['worker-busy', `#/workers/${await workerOf(service)}`, 'slow_import'])
  await mkdir(directory, { recursive: true })
  for (const [theme, width] of [['light', 1300], ['dark', 1300], ['light', 360], ['dark', 360]] as const) {
    const { page } = await browser.open()
    await page.setViewportSize({ width, height: width > 500 ? 820 : 740 })
    await page.emulateMedia({ colorScheme: theme })
    const shoot = async (name: string): Promise<void> => {
      if (wanted.length > 0 && !wanted.includes(name)) return
      await page.screenshot({ path: join(resolve(directory), `${name}-${theme}-${width}.png`) })
    }
    await page.goto(`${service.api.address}/`)
    await page.getByLabel('API key').waitFor()
    await shoot('login')
    await logIn(page)
    for (const [name, hash, text] of pages) {
      await page.goto(`${service.api.address}/${hash}`)
      await page.getByText(text).first().waitFor({ state: 'attached' })
      await shoot(name)
    }
  }
} finally {
  for (const step of steps.reverse()) await step()
}

/** Two workers that went away, each in its way, and one that is drained. */
async function mixWorkers ({ client, startWorker }: Service): Promise<string> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) await (await startWorker({ WORKER_QUEUES: 'reports' })).stop(signal)
  await startWorker({ WORKER_QUEUES: 'reports' })
  const idle = await waitFor('the last one', async () => {
    const { body: { workers, gone } } = await client.request<WorkerList>('/v1/workers')
    return gone.length === 2 && workers.find(({ queues }) => queues.join() === 'reports')
  })
  await client.request(`/v1/workers/${idle.id}`, { method: 'PATCH', body: { drained: true } })
  return idle.id
}

/** The one that runs the long job. */
async function workerOf ({ client }: Service): Promise<string> {
  const { body: { workers } } = await client.request<WorkerList>('/v1/workers')
  return workers.find(({ state }) => state === 'working')?.id ?? ''
}

async function logIn (page: Page): Promise<void> {
  await page.getByLabel('API key').fill(testKeys.admin)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}
