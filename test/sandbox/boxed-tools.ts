import { createExecutors, openSandbox, type ExecutorOptions, type Executors, type Outcome, type RunContext, type Sandbox, type SandboxOptions } from '@toolyard/executors'
import type { Permission, Tool } from '@toolyard/manifests'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { testTool } from '../support/tool.ts'

/** A command tool, as far as these tests set it. */
interface BoxedTool {
  program: string
  args?: string[] | undefined
  envPassthrough?: string[] | undefined
  permissions?: readonly Permission[] | undefined
  network?: readonly string[] | undefined
  unixSockets?: true | undefined
  /** Its `secrets`; the field of that name is the call's. */
  uses?: Tool['secrets']
  limits?: NonNullable<Tool['limits']> | undefined
  warm?: number | 'auto' | undefined
  sha256?: string | undefined
}

export interface BoxedRun extends BoxedTool, Partial<RunContext> {
  arguments?: Record<string, unknown>
  /** False where the program can't be started, so that no process of it can be kept ready. */
  startable?: boolean
}

/** With this variable, which `npm test -- warm` sets, every tool of these tests is kept ready before it is called, as far as it can be. */
export const everyWarm = process.env['TOOLYARD_TEST_WARM'] === '1'

/** Executors whose tools run in a real box. */
export interface BoxedTools {
  /** Holds the workspace, and `tools/`, where programs lie. */
  base: string
  workspace: string
  sandbox: Sandbox
  executors: Executors
  /** Lines that tools logged. */
  logged: string[]
  /** Writes a program below `tools/bin` and returns its path. */
  program: (name: string, text: string) => string
  run: (run: BoxedRun) => Promise<Outcome>
  /** Keeps the tool of a run ready, and waits until so many of its processes wait. */
  keep: (run: BoxedRun & { warm: number | 'auto' }, waiting?: number) => Promise<void>
  /** Makes a box ahead for calls such as this one, by a call that does nothing, and waits until so many boxes wait. */
  stock: (run: Omit<BoxedRun, 'program'>, waiting?: number) => Promise<void>
  /** Runs a shell script with the permission to read the workspace, or others. */
  shell: (script: string, rest?: Omit<BoxedRun, 'program'>) => Promise<Outcome>
}

/** Why tests that need a box are skipped on this machine; false when they aren't. */
export async function withoutBox (): Promise<string | false> {
  const workspaceDir = mkdtempSync(join(tmpdir(), 'toolyard-boxed-'))
  const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir, hidden: [], defaultPermissions: [] })
  sandbox.close()
  rmSync(workspaceDir, { recursive: true })
  const { report } = sandbox
  const gaps = report.findings.filter(({ holds }) => !holds).map(({ layer, detail }) => `${layer}: ${detail}`)
  return report.level === 'full' ? false : `this machine has no whole sandbox (${gaps.join(', ')})`
}

/** Why tests that need control groups are skipped on this machine; false when they aren't. */
export async function withoutGroups (): Promise<string | false> {
  const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: process.cwd(), hidden: [], defaultPermissions: [] })
  sandbox.close()
  const finding = sandbox.report.findings.find(({ layer }) => layer === 'cgroup')
  return finding?.holds === true ? false : `no control groups here: ${finding?.detail}`
}

/**
 * Sets up real directories, a whole sandbox unless the options say otherwise, and executors; the test's end removes them.
 * Relative paths of `hidden` start at `base`.
 */
export async function boxedTools (
  t: Test, options: Partial<SandboxOptions> & Pick<ExecutorOptions, 'warm' | 'stock' | 'logger' | 'http' | 'onConnection' | 'secrets'> & Partial<Pick<ExecutorOptions, 'audit'>> = {}
): Promise<BoxedTools> {
  const base = mkdtempSync(join(tmpdir(), 'toolyard-boxed-'))
  const workspace = join(base, 'workspace')
  mkdirSync(workspace)
  mkdirSync(join(base, 'tools/bin'), { recursive: true })
  const sandbox = await openSandbox({ mode: 'require', env: process.env, workspaceDir: workspace, defaultPermissions: ['read_repo'], ...options, hidden: (options.hidden ?? []).map(path => resolve(base, path)) })
  const audit = { record: () => {}, flush: async () => { await Promise.resolve() } }
  let unfit = 0
  const executors = createExecutors({
    workspaceDir: workspace,
    env: options.env ?? process.env,
    maxOutputBytes: 1_048_576,
    audit: options.audit ?? audit,
    ...options.http && { http: options.http },
    secrets: options.secrets,
    ...options.onConnection && { onConnection: options.onConnection },
    sandbox,
    stock: options.stock ?? { maxBytes: 2 ** 24 },
    warm: options.warm ?? { maxBytes: 2 ** 30, maxIdleMs: 60_000 },
    logger: {
      warn (fields, message) {
        if (message.includes('warm')) unfit += 1
        options.logger?.warn(fields, message)
      }
    }
  })
  t.teardown(async () => {
    await executors.close()
    sandbox.close()
    rmSync(base, { recursive: true })
  })
  const logged: string[] = []

  function toolOf ({ program, args = [], envPassthrough = [], permissions = ['read_repo'], network, unixSockets, uses, limits, sha256, warm }: BoxedTool): Tool {
    return testTool({ kind: 'command', program, args, envPassthrough, ...(sha256 === undefined ? {} : { sha256 }) }, {
      name: 'boxed',
      permissions,
      ...(network === undefined ? {} : { network }),
      ...(unixSockets === undefined ? {} : { unixSockets }),
      ...(uses === undefined ? {} : { secrets: uses }),
      ...(limits === undefined ? {} : { limits }),
      ...(warm === undefined ? {} : { warm }),
      source: { format: 'agentcli', file: join(base, 'tools.json'), index: 0 }
    })
  }

  async function run (boxed: BoxedRun): Promise<Outcome> {
    const { arguments: given = {}, startable = true, ...context } = boxed
    const tool = toolOf({ ...boxed, warm: boxed.warm ?? (everyWarm ? 1 : undefined) })
    const mayWait = startable && boxed.network === undefined
    if (everyWarm && mayWait && context.session !== undefined) await stock(boxed)
    if (everyWarm && mayWait && context.session === undefined && sandbox.boxOf(tool) !== undefined) await keepIfFit(tool)
    return await executors.run(tool, given, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: line => { logged.push(line) }, ...context })
  }

  /** Waits until a process is ready, or was found to be of no use. */
  async function keepIfFit (tool: Tool): Promise<void> {
    const before = unfit
    executors.keep([tool])
    // Nobody hears that a tool can't be started before it is called.
    await waitFor('a process waits, or none can', () => executors.waiting(tool.name) > 0 || unfit > before, 3_000).catch(() => {})
  }

  async function stock ({ permissions, network, uses, limits, session, tenant }: Omit<BoxedRun, 'program'>, waiting = 1): Promise<void> {
    const tool = toolOf({ program: '/bin/true', permissions, network, uses, limits })
    if (sandbox.boxOf(tool) === undefined) return
    await executors.run(tool, {}, {
      jobId: 'job-0', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {}, ...session && { session }, ...tenant !== undefined && { tenant }
    })
    await waitFor('boxes wait', () => executors.waiting() >= waiting)
  }

  return {
    base,
    workspace,
    sandbox,
    executors,
    logged,
    program (name, text) {
      const file = join(base, 'tools/bin', name)
      writeFileSync(file, text)
      chmodSync(file, 0o755)
      return file
    },
    run,
    stock,
    async keep (boxed, waiting = 1) {
      executors.keep([toolOf(boxed)])
      await waitFor('processes wait', () => executors.waiting('boxed') >= waiting)
    },
    // Where every tool is warm, one without arguments begins as tools do that can be kept ready; others read their own.
    async shell (script, rest = {}) {
      const waits = !everyWarm || rest.arguments !== undefined ? '' : 'while read -r _; do :; done; '
      return await run({ program: '/bin/sh', ...rest, args: ['-c', `${waits}${script}`] })
    }
  }
}
