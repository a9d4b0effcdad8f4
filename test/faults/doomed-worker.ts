import { createExecutors, openSandbox, type RunContext } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { join } from 'node:path'

/**
 * Opens a sandbox and runs boxed tools of every kind without end, eight at a time: a worker to be killed at any moment.
 * The tools end at once, so that most boxes are being built at any moment; once the workspace has a file `stay`, they stay.
 * Its arguments are a directory that holds `workspace` and a Python root, and what it runs: `python` for Python tools beside
 * commands, `warm` for processes and boxes that wait ready.
 */
const [, , base = '', kind] = process.argv
const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: join(base, 'workspace'), hidden: [], defaultPermissions: ['read_repo'], python: kind === 'python' })
const audit = { record: () => {}, flush: async () => { await Promise.resolve() } }
const executors = createExecutors({
  workspaceDir: join(base, 'workspace'),
  env: process.env,
  maxOutputBytes: 10_000,
  audit,
  sandbox,
  warm: { maxBytes: 2 ** 30, maxIdleMs: 60_000 },
  stock: { maxBytes: 2 ** 25 }
})
const shared = { description: '', parameters: {}, enabled: true, idempotent: false, source: { format: 'agentcli' as const, file: join(base, 'tools.json'), index: 0 } }
const tools: Tool[] = [
  { ...shared, name: 'stay', jobType: 'agentcli.stay', run: { kind: 'command', program: '/bin/sh', args: ['-c', '[ -e stay ] || exit 0; setsid sleep 7200 & sleep 7200'], envPassthrough: [] } },
  ...(kind === 'python' ? [{ ...shared, name: 'python', jobType: 'python.sleeper', run: { kind: 'python' as const, root: join(base, 'python'), module: 'sleeper', config: {}, strictOutputs: false } }] : [])
]
const context = (): RunContext => ({ jobId: 'job', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
process.stdout.write(`${sandbox.report.level}\n`)

if (kind === 'warm') {
  // Its processes wait, or are being started, whenever it is killed; none of them is ever called.
  const script = 'read -r line; touch called; sleep 7200'
  const run: Tool['run'] = { kind: 'command', program: '/bin/sh', args: ['-c', script], envPassthrough: [] }
  executors.keep([{ ...shared, name: 'warm', jobType: 'agentcli.warm', permissions: ['write_files'], warm: 60, run }])
  // So do boxes, for this one.
  const [stay] = tools
  setInterval(() => { if (stay !== undefined) void executors.run(stay, {}, context()) }, 40)
  await new Promise(() => {})
}

async function runOn (place: number): Promise<never> {
  for (let turn = place; ; turn++) {
    const tool = tools[turn % tools.length]
    if (tool !== undefined) await executors.run(tool, {}, context())
  }
}
await Promise.all(Array.from({ length: 8 }, async (_, place) => await runOn(place)))
