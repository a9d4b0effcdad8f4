import { createExecutors } from '@toolyard/executors'
import type { Tool, ToolRun } from '@toolyard/manifests'

/**
 * Runs one tool, whose `run` is given as JSON in the arguments, with the process's own environment, and prints the outcome.
 * For what the test runner would distort: it adds variables to every child of a test.
 */
const run = JSON.parse(process.argv[2] ?? '') as ToolRun
const audit = { record: () => {}, flush: async () => await Promise.resolve() }
const executors = createExecutors({ workspaceDir: '/', env: process.env, maxOutputBytes: 100_000, audit })
const tool: Tool = {
  name: 'plain',
  description: '',
  parameters: {},
  jobType: 'agentcli.plain',
  enabled: true,
  idempotent: false,
  source: { format: 'agentcli', file: '/tools.json', index: 0 },
  run
}
const outcome = await executors.run(tool, {}, { jobId: '1', timeoutMs: 30_000, signal: new AbortController().signal, log: () => {} })
console.log(JSON.stringify(outcome))
