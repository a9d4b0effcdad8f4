import { createExecutors, openSandbox, type ExecutorOptions, type Executors, type Outcome, type RunContext, type Sandbox } from '@toolyard/executors'
import type { Permission, PythonRun, Tool } from '@toolyard/manifests'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { testTool } from '../support/tool.ts'

export interface PythonCall extends Partial<RunContext>, Partial<Omit<PythonRun, 'kind'>> {
  permissions?: readonly Permission[]
  network?: readonly string[]
  /** Its `secrets`; the field of that name is the call's. */
  uses?: Tool['secrets']
  limits?: NonNullable<Tool['limits']>
  arguments?: Record<string, unknown>
}

/** Where things lie, from the directory that holds them all. */
interface BoxedPlaces {
  /** Default `workspace`. */
  workspace?: string
  /** Files and directories of the service; default none. */
  hidden?: readonly string[]
  http?: ExecutorOptions['http'] | undefined
  secrets?: ExecutorOptions['secrets']
  /** Changes what the executors get of the sandbox. */
  change?: (sandbox: Sandbox) => Partial<Sandbox>
}

/** Executors whose Python tools run in a real box. */
export interface BoxedPython {
  /** Holds the Python root and the workspace. */
  base: string
  root: string
  workspace: string
  sandbox: Sandbox
  executors: Executors
  /** Lines that tools logged, of all calls. */
  logged: string[]
  /** The sandbox levels that the audit was told. */
  levels: string[]
  call (call?: PythonCall): Promise<Outcome>
  /** Runs `body` as the `execute` of a module of this name. */
  execute (module: string, body: string, call?: PythonCall): Promise<Outcome>
}

const prelude = 'import os, signal, subprocess, sys, time\nfrom toolyard import Tool\n'

/** Sets up real directories, a whole sandbox and executors; the test's end removes them. */
export async function boxedPython (
  t: Test, { workspace: workspaceName = 'workspace', hidden = [], http, secrets, change = () => ({}) }: BoxedPlaces = {}
): Promise<BoxedPython> {
  const base = mkdtempSync(join(tmpdir(), 'toolyard-boxed-'))
  const [root, workspace] = [join(base, 'root'), join(base, workspaceName)]
  for (const directory of [root, workspace]) mkdirSync(directory, { recursive: true })
  const sandbox = await openSandbox({ mode: 'require', env: process.env, workspaceDir: workspace, sessionsDir: join(base, 'sessions'), hidden: hidden.map(name => join(base, name)), defaultPermissions: ['read_repo'], python: true })
  const levels: string[] = []
  const audit = { record: (entry: { call?: { sandbox: string } }) => { levels.push(entry.call?.sandbox ?? '') }, flush: async () => { await Promise.resolve() } }
  const executors = createExecutors({
    workspaceDir: workspace,
    env: process.env,
    maxOutputBytes: 1_048_576,
    audit,
    ...http && { http },
    secrets,
    sandbox: { ...sandbox, ...change(sandbox) }
  })
  t.teardown(async () => {
    await executors.close()
    sandbox.close()
    rmSync(base, { recursive: true })
  })
  const logged: string[] = []

  async function call ({ permissions = ['read_repo'], network, uses, limits, arguments: given = {}, jobId = 'job-1', timeoutMs = 60_000, signal = new AbortController().signal, log = line => { logged.push(line) }, session, ...run }: PythonCall = {}): Promise<Outcome> {
    const tool = testTool({ kind: 'python', root, module: 'tool', config: {}, strictOutputs: false, ...run }, {
      permissions,
      ...(network === undefined ? {} : { network }),
      ...(uses === undefined ? {} : { secrets: uses }),
      ...(limits === undefined ? {} : { limits }),
      source: { format: 'tool-manifest', file: join(base, 'manifest.json'), index: 0 }
    })
    return await executors.run(tool, given, { jobId, timeoutMs, signal, log, ...(session === undefined ? {} : { session }) })
  }

  return {
    base,
    root,
    workspace,
    sandbox,
    executors,
    logged,
    levels,
    call,
    async execute (module, body, rest = {}) {
      const text = `${prelude}class Sample(Tool):\n    def execute(self, **given):\n${body.split('\n').map(line => `        ${line}`).join('\n')}\n`
      writeFileSync(join(root, `${module}.py`), text)
      return await call({ module, ...rest })
    }
  }
}
