import { createExecutors, openAudit, openSandbox, type ExecutorOptions, type Executors, type Outcome, type Sandbox } from '@toolyard/executors'
import type { Tool, ToolRun } from '@toolyard/manifests'
import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Cleanup } from '../../support/cleanup.ts'
import { hasPython } from '../../support/python.ts'
import type { BareLine } from '../bare-spawn.ts'
import type { Unable } from '../frame/row.ts'

/** Executors by themselves: no queue, no HTTP. */
export interface BenchExecutors {
  dir: string
  workspace: string
  executors: Executors
  sandbox: Sandbox
  /** One call; fails where the tool fails. */
  call: (tool: Tool, args?: Record<string, unknown>) => Promise<unknown>
}

/** Opens executors whose tools run in boxes, or in the open. */
export async function benchExecutors (cleanup: Cleanup, mode: 'auto' | 'off', stock?: ExecutorOptions['stock']): Promise<BenchExecutors> {
  const dir = await mkdtemp(join(tmpdir(), 'toolyard-bench-'))
  cleanup.teardown(() => rm(dir, { recursive: true, force: true }))
  const workspace = join(dir, 'workspace')
  await mkdir(workspace)
  const sandbox = await openSandbox({ mode, env: process.env, workspaceDir: workspace, hidden: [], defaultPermissions: ['read_repo'] })
  const executors = createExecutors({
    workspaceDir: workspace,
    env: process.env,
    maxOutputBytes: 1_048_576,
    sandbox,
    ...stock && { stock },
    warm: { maxBytes: 2 ** 29, maxIdleMs: 60_000 },
    audit: openAudit({ dir: join(dir, 'audit'), redact: '', secrets: [], onError: error => { throw error } }),
    logger: { warn: (fields, message) => { console.error(message, fields) } }
  })
  cleanup.teardown(async () => {
    await executors.close()
    sandbox.close()
  })
  await executors.prepare()
  const call = async (tool: Tool, args: Record<string, unknown> = { a: 1 }): Promise<unknown> => {
    const outcome: Outcome = await executors.run(tool, args, { jobId: 'bench', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
    if (!outcome.ok) throw new Error(`${tool.name}: ${outcome.error.message}`)
    return outcome.output
  }
  return { dir, workspace, executors, sandbox, call }
}

/** Why there are no rows of boxes here; undefined where there are. */
export function withoutBox ({ sandbox }: BenchExecutors): Unable | undefined {
  return sandbox.report.level === 'none' ? { unable: 'no bubblewrap here' } : undefined
}

export function toolOf (name: string, run: ToolRun, more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: '',
    parameters: { type: 'object', properties: {} },
    jobType: `bench.${name}`,
    enabled: true,
    idempotent: true,
    source: { format: 'agentcli', file: '/tools.json', index: 0 },
    run,
    ...more
  }
}

export function command (name: string, program: string, args: string[] = [], more: Partial<Tool> = {}): Tool {
  return toolOf(name, { kind: 'command', program, args, envPassthrough: [] }, more)
}

/**
 * The bubblewrap line that a command gets, up to the command itself, and what it expects: a file for its status and,
 * where there is one, the filter.
 */
export async function boxLine (cleanup: Cleanup, { dir, call }: BenchExecutors): Promise<Omit<BareLine, 'bytes'>> {
  // The first process of a box is bubblewrap.
  const text = String(await call(command('line', '/bin/cat', ['/proc/1/cmdline'])))
  const argv = text.split('\0').slice(0, -3)
  const status = openSync(join(dir, 'status'), 'w+')
  cleanup.teardown(() => { closeSync(status) })
  return { argv, files: [`/proc/${process.pid}/fd/${status}`, ...(argv.includes('--seccomp') ? [filterOf(argv)] : [])] }
}

/** The filter lies beside the /etc of boxes. */
function filterOf (argv: readonly string[]): string {
  const etc = argv[argv.indexOf('/etc') - 1]
  if (etc === undefined || argv[argv.indexOf('--seccomp') + 1] !== '4') throw new Error(`the line of the box is another than it was: ${argv.join(' ')}`)
  return join(dirname(etc), 'filter')
}

/** The Python interpreter itself: `python3` on the PATH may be a script that looks for it. */
export async function pythonPath (): Promise<string | undefined> {
  if (!hasPython()) return undefined
  return (await promisify(execFile)('python3', ['-c', 'import sys; print(sys.executable)'])).stdout.trim()
}
