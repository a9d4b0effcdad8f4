import { createExecutors } from '@toolyard/executors'
import type { PythonRun } from '@toolyard/manifests'

/**
 * A worker with the environment that it was started with: runs the Python tools given as JSON in its arguments, after
 * the workspace, all at once, and prints the outcomes. For what the test runner would distort, since it adds variables
 * to every child of a test, and for what kills a worker.
 */
const [workspaceDir = '', ...runs] = process.argv.slice(2)
const audit = { record: () => {}, flush: async () => await Promise.resolve() }
const executors = createExecutors({ workspaceDir, env: process.env, maxOutputBytes: 100_000, audit })
const outcomes = await Promise.all(runs.map(async json => {
  const run = JSON.parse(json) as PythonRun
  const tool = { name: 'plain', description: '', parameters: {}, jobType: 'pylot.plain', enabled: true, idempotent: false, source: { format: 'tool-manifest', file: '/tools.json', index: 0 } as const, run }
  return await executors.run(tool, {}, { jobId: '1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
}))
await executors.close()
console.log(JSON.stringify(outcomes))
