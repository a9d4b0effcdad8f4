import { createExecutors } from '@toolyard/executors'
import type { PythonRun } from '@toolyard/manifests'

/** A worker with a call and an import that don't end; `death.test.ts` kills it. */
const [root = '', workspaceDir = ''] = process.argv.slice(2)
const executors = createExecutors({ workspaceDir, env: process.env, maxOutputBytes: 1_024, audit: { record () {}, async flush () {} } })
await Promise.all(['tool', 'importing'].map(async module => {
  const run: PythonRun = { kind: 'python', root, module, config: {}, strictOutputs: false }
  const tool = { name: module, description: '', parameters: {}, jobType: 'pylot.sample', enabled: true, idempotent: false, source: { format: 'tool-manifest', file: '/tools.json', index: 0 } as const, run }
  await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
}))
