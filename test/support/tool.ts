import { createExecutors, type ExecutorOptions, type Executors } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import type { Cleanup } from './cleanup.ts'

/** A tool that has nothing but what runs it, unless `fields` say otherwise. */
export function testTool (run: Tool['run'], fields: Partial<Tool> = {}): Tool {
  return {
    name: 'sample',
    description: '',
    parameters: { type: 'object', properties: {} },
    jobType: 'agentcli.sample',
    enabled: true,
    idempotent: false,
    source: { format: 'agentcli', file: '/tools.json', index: 0 },
    run,
    ...fields
  }
}

/** Executors without a box, which may ask servers of this machine; the test's end closes them. */
export function openExecutors (cleanup: Cleanup, options: Partial<ExecutorOptions> = {}): Executors {
  const executors = createExecutors({
    workspaceDir: '/', env: {}, maxOutputBytes: 100_000, audit: { record: () => {}, flush: async () => {} }, http: { privateHosts: ['127.0.0.1'] }, ...options
  })
  cleanup.teardown(() => executors.close())
  return executors
}
