import { createExecutors, openSandbox, type RunContext } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { join } from 'node:path'

/**
 * Opens a sandbox and runs boxed tools of every kind without end, eight at a time: a worker to be killed at any moment.
 * The tools end at once, so that most boxes are being built at any moment; once the workspace has a file `stay`, they stay.
 * Its arguments are a directory that holds `workspace` and a Python root, and whether there are Python tools.
 */
const [, , base = '', python] = process.argv
const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: join(base, 'workspace'), hidden: [], defaultPermissions: ['read_repo'], python: python === 'python' })
const audit = { record: () => {}, flush: async () => { await Promise.resolve() } }
const executors = createExecutors({ workspaceDir: join(base, 'workspace'), env: process.env, maxOutputBytes: 10_000, audit, sandbox })
const shared = { description: '', parameters: {}, enabled: true, idempotent: false, source: { format: 'agentcli' as const, file: join(base, 'tools.json'), index: 0 } }
const tools: Tool[] = [
  { ...shared, name: 'stay', jobType: 'agentcli.stay', run: { kind: 'command', program: '/bin/sh', args: ['-c', '[ -e stay ] || exit 0; setsid sleep 7200 & sleep 7200'], envPassthrough: [] } },
  ...(python === 'python' ? [{ ...shared, name: 'python', jobType: 'python.sleeper', run: { kind: 'python' as const, root: join(base, 'python'), module: 'sleeper', config: {}, strictOutputs: false } }] : [])
]
const context = (): RunContext => ({ jobId: 'job', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
process.stdout.write(`${sandbox.report.level}\n`)

async function runOn (place: number): Promise<never> {
  for (let turn = place; ; turn++) {
    const tool = tools[turn % tools.length]
    if (tool !== undefined) await executors.run(tool, {}, context())
  }
}
await Promise.all(Array.from({ length: 8 }, async (_, place) => await runOn(place)))
