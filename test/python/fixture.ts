import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { createExecutors, openAudit, openSandbox, type CompileSchema, type ExecutorOptions, type Executors, type Outcome, type RunContext, type Sandbox } from '@toolyard/executors'
import type { PythonRun, Tool } from '@toolyard/manifests'
import { whole } from '../executors/fixture.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { testTool } from '../support/tool.ts'

export { isAlive, outputOf } from '../executors/fixture.ts'

/** Given to every test: without a Python there is nothing to test. */
export const python = { skip: spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed' }
export const linuxPython = { skip: python.skip === false && process.platform !== 'linux' ? 'needs /proc' : python.skip }

/** Whether tools run in the sandbox, with the permission to write to the workspace: they do where the machine has a whole one. */
export const isBoxed = python.skip === false && await withoutBox() === false
/** For what only the host of a box does: in the open each call imports its module by itself. */
export const boxed = { skip: isBoxed ? false : python.skip === false ? 'this machine has no whole sandbox' : python.skip }

export interface RunOptions extends Partial<RunContext>, Partial<Omit<PythonRun, 'kind'>> {
  arguments?: Record<string, unknown>
}

export interface Fixture {
  /** The Python root. */
  root: string
  /** Working directory of the tools. */
  workspace: string
  executors: Executors
  /** Lines that tools logged, of all runs. */
  logged: string[]
  /** Writes a source file of the root; the imports that tools need are put before it. */
  source (path: string, text: string): void
  /** A tool; its module is `tool` unless said otherwise. */
  tool (run?: Partial<Omit<PythonRun, 'kind'>>): Tool
  runTool (tool: Tool, given?: Record<string, unknown>, context?: Partial<RunContext>): Promise<Outcome>
  /** Runs a tool; its module is `tool` unless said otherwise. */
  run (options?: RunOptions): Promise<Outcome>
  /** Runs `body` as the `execute` of a class in a module of its own. */
  execute (body: string, options?: RunOptions): Promise<Outcome>
  written (name: string): string
  has (name: string): boolean
  auditLines (): Promise<Array<Record<string, unknown>>>
}

export interface FixtureOptions extends Partial<Pick<ExecutorOptions, 'env' | 'maxOutputBytes'>> {
  /** Whether it runs without a box, on every machine. */
  open?: boolean
  compileSchema?: CompileSchema
}

const prelude = 'import asyncio, os, signal, subprocess, sys, threading, time\nfrom toolyard import Tool\n'

/** Executors on real directories and a real Python. */
export async function createFixture (t: Test, { open = false, ...options }: FixtureOptions = {}): Promise<Fixture> {
  const base = t.testdir({ root: {}, workspace: {}, audit: {} })
  const [root, workspace, auditDir] = [join(base, 'root'), join(base, 'workspace'), join(base, 'audit')]
  const sandbox = isBoxed && !open ? await openBox(workspace, options) : undefined
  const audit = openAudit({ dir: auditDir, redact: '', secrets: [], onError: error => { t.fail('the audit failed', { error }) } })
  const executors = createExecutors({
    workspaceDir: workspace, env: process.env, maxOutputBytes: 1_048_576, audit, ...(sandbox === undefined ? {} : { sandbox }), ...options
  })
  t.teardown(async () => {
    await executors.close()
    sandbox?.close()
  })
  const logged: string[] = []
  let modules = 0

  const fixture: Fixture = {
    root,
    workspace,
    executors,
    logged,
    source (path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), `${prelude}${text}\n`)
    },
    tool: run => testTool({ kind: 'python', root, module: 'tool', config: {}, strictOutputs: false, ...run }, { description: 'A sample.' }),
    async runTool (tool, given = {}, context = {}) {
      const log = (line: string): void => { logged.push(line) }
      return whole(await executors.run(tool, given, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log, ...context }))
    },
    async run ({ arguments: given, jobId, timeoutMs, signal, log, ...run } = {}) {
      const context = Object.entries({ jobId, timeoutMs, signal, log }).filter(([, value]) => value !== undefined)
      return await fixture.runTool(fixture.tool(run), given, Object.fromEntries(context))
    },
    async execute (body, options = {}) {
      const module = `body_${modules++}`
      fixture.source(`${module}.py`, toolClass(body))
      return await fixture.run({ module, ...options })
    },
    written: name => readFileSync(join(workspace, name), 'utf8'),
    has: name => existsSync(join(workspace, name)),
    async auditLines () {
      await executors.close()
      const lines = readdirSync(auditDir).flatMap(file => readFileSync(join(auditDir, file), 'utf8').trimEnd().split('\n'))
      return lines.map(line => JSON.parse(line) as Record<string, unknown>)
    }
  }
  return fixture
}

async function openBox (workspaceDir: string, { env = process.env }: Pick<FixtureOptions, 'env'>): Promise<Sandbox> {
  return await openSandbox({ mode: 'require', env: { ...env, PATH: `${env['PATH'] ?? ''}:/usr/bin:/bin` }, workspaceDir, hidden: [], defaultPermissions: ['write_files'] })
}

export function toolClass (body: string, name = 'Sample'): string {
  return `class ${name}(Tool):\n    def execute(self, **arguments):\n${body.split('\n').map(line => `        ${line}`).join('\n')}\n`
}

/** The error of a run that must have failed, as `CODE: message`. */
export function errorOf (outcome: Outcome): string {
  if (outcome.ok) throw new Error(`the run succeeded: ${JSON.stringify(outcome.output)}`)
  return `${outcome.error.code}: ${outcome.error.message}`
}
