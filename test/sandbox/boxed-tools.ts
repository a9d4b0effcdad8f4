import { createExecutors, openSandbox, type Executors, type Outcome, type RunContext, type Sandbox, type SandboxOptions } from '@toolyard/executors'
import type { Permission, Tool } from '@toolyard/manifests'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'

export interface BoxedRun extends Partial<RunContext> {
  program: string
  args?: string[]
  permissions?: readonly Permission[]
  limits?: NonNullable<Tool['limits']>
  sha256?: string
  arguments?: Record<string, unknown>
}

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

/**
 * Sets up real directories, a whole sandbox unless the options say otherwise, and executors; the test's end removes them.
 * Relative paths of `hidden` start at `base`.
 */
export async function boxedTools (t: Test, options: Partial<SandboxOptions> = {}): Promise<BoxedTools> {
  const base = mkdtempSync(join(tmpdir(), 'toolyard-boxed-'))
  const workspace = join(base, 'workspace')
  mkdirSync(workspace)
  mkdirSync(join(base, 'tools/bin'), { recursive: true })
  const sandbox = await openSandbox({ mode: 'require', env: process.env, workspaceDir: workspace, defaultPermissions: ['read_repo'], ...options, hidden: (options.hidden ?? []).map(path => resolve(base, path)) })
  const audit = { record: () => {}, flush: async () => { await Promise.resolve() } }
  const executors = createExecutors({ workspaceDir: workspace, env: options.env ?? process.env, maxOutputBytes: 1_048_576, audit, sandbox })
  t.teardown(async () => {
    await executors.close()
    sandbox.close()
    rmSync(base, { recursive: true })
  })
  const logged: string[] = []

  async function run ({ program, args = [], permissions = ['read_repo'], limits, sha256, arguments: given = {}, ...context }: BoxedRun): Promise<Outcome> {
    const tool: Tool = {
      name: 'boxed',
      description: '',
      parameters: {},
      jobType: 'agentcli.boxed',
      enabled: true,
      idempotent: false,
      permissions,
      ...(limits === undefined ? {} : { limits }),
      source: { format: 'agentcli', file: join(base, 'tools.json'), index: 0 },
      run: { kind: 'command', program, args, envPassthrough: [], ...(sha256 === undefined ? {} : { sha256 }) }
    }
    return await executors.run(tool, given, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: line => { logged.push(line) }, ...context })
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
    shell: async (script, rest = {}) => await run({ program: '/bin/sh', ...rest, args: ['-c', script] })
  }
}
