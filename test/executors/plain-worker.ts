import { createExecutors } from '@toolyard/executors'
import type { ToolRun } from '@toolyard/manifests'
import { testTool } from '../support/tool.ts'

/**
 * Runs one tool, whose `run` is given as JSON in the arguments, with the process's own environment, and prints the outcome.
 * For what the test runner would distort: it adds variables to every child of a test.
 */
const run = JSON.parse(process.argv[2] ?? '') as ToolRun
const audit = { record: () => {}, flush: async () => await Promise.resolve() }
const executors = createExecutors({ workspaceDir: '/', env: process.env, maxOutputBytes: 100_000, audit })
const outcome = await executors.run(testTool(run), {}, { jobId: '1', timeoutMs: 30_000, signal: new AbortController().signal, log: () => {} })
console.log(JSON.stringify(outcome))
