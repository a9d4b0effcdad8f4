/** `toolyard start` with stand-ins for the HTTP service and the worker, and shorter waits. */
import { fileURLToPath } from 'node:url'
import { runStart } from 'toolyard'

const entry = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

try {
  process.exitCode = await runStart({
    directory: process.cwd(),
    env: process.env,
    entries: { api: entry('fake-api.js'), worker: entry('fake-worker.js') },
    backoff: { firstMs: 50, maxMs: 100, steadyMs: 60_000 }
  })
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
