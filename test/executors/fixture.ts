import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createExecutors, openAudit, type Audit, type BuiltinOptions, type CompileSchema, type ExecutorLogger, type ExecutorOptions, type Executors, type Outcome, type RunContext, type Sandbox } from '@toolyard/executors'
import type { Tool } from '@toolyard/manifests'
import { testTool } from '../support/tool.ts'

export interface RunOptions extends Partial<RunContext> {
  program: string
  args?: string[]
  envPassthrough?: string[]
  arguments?: Record<string, unknown>
  /** Its schema; any arguments without one. */
  parameters?: Record<string, unknown>
  /** False where the program can't be started, so that no process of it can be kept ready. */
  startable?: boolean
}

export interface Fixture {
  /** Working directory of the tools; the programs and the audit lie beside it. */
  workspace: string
  executors: Executors
  /** Lines that tools logged, of all runs. */
  logged: string[]
  /** Writes an executable file and returns its path. */
  program (name: string, text: string | Buffer, mode?: number): string
  /** Writes an executable shell script and returns its path. */
  shell (name: string, script: string): string
  run (options: RunOptions): Promise<Outcome>
  /** Runs a shell script with nothing but the defaults. */
  runShell (script: string, options?: Omit<RunOptions, 'program'>): Promise<Outcome>
  runBuiltin (jobType: string, args: Record<string, unknown>, context?: Partial<RunContext>): Promise<Outcome>
  /** Does the same without reading the JSON of a large output. */
  runBuiltinOnly (jobType: string, args: Record<string, unknown>, context?: Partial<RunContext>): Promise<Outcome>
  auditLines (): Promise<Array<Record<string, unknown>>>
}

export interface FixtureOptions {
  env?: NodeJS.ProcessEnv
  maxOutputBytes?: number
  redact?: string
  secrets?: string[]
  /** The workspace is a symbolic link to `real`, beside it. */
  linkedWorkspace?: boolean
  audit?: Audit
  builtins?: BuiltinOptions
  /** Of the service, from the workspace. */
  serviceFiles?: string[]
  logger?: ExecutorLogger
  compileSchema?: CompileSchema
  http?: NonNullable<ExecutorOptions['http']>
  /** Directories that were made before, and the sandbox for them. */
  boxed?: { place: Place, sandbox: Sandbox }
  keptReady?: KeptReady
}

/** Keeps each command ready before its call. */
export interface KeptReady {
  logger: ExecutorLogger
  call (executors: Executors, tool: Tool, run: (tool: Tool) => Promise<Outcome>): Promise<Outcome>
}

/** Where the workspace is, and beside it the programs and the audit. */
export interface Place {
  base: string
  workspace: string
}

const warmLimits = { maxBytes: 2 ** 30, maxIdleMs: 60_000 }

/** Executors on real directories; programs are real files. */
export function createFixture (t: Test, options: FixtureOptions = {}): Fixture {
  const { boxed, keptReady } = options
  const { base, workspace } = boxed?.place ?? makePlace(options.linkedWorkspace)
  const auditDir = join(base, 'audit')
  const audit = options.audit ?? openAudit({ dir: auditDir, redact: options.redact ?? '', secrets: options.secrets ?? [], onError: error => { t.fail('the audit failed', { error }) } })
  const executors = createExecutors({
    workspaceDir: workspace,
    env: options.env ?? process.env,
    ...(options.compileSchema === undefined ? {} : { compileSchema: options.compileSchema }),
    maxOutputBytes: options.maxOutputBytes ?? 1_048_576,
    audit,
    serviceFiles: (options.serviceFiles ?? []).map(path => join(workspace, path)),
    ...options.builtins === undefined ? {} : { builtins: options.builtins },
    ...options.http === undefined ? {} : { http: options.http },
    ...options.logger === undefined ? {} : { logger: options.logger },
    ...boxed === undefined ? {} : { sandbox: boxed.sandbox },
    ...keptReady === undefined ? {} : { logger: keptReady.logger, warm: warmLimits }
  })
  t.teardown(async () => {
    await executors.close()
    boxed?.sandbox.close()
    rmSync(base, { recursive: true })
  })
  const logged: string[] = []

  function context (given: Partial<RunContext>): RunContext {
    return { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: line => { logged.push(line) }, ...given }
  }

  const fixture: Fixture = {
    workspace,
    executors,
    logged,
    program (name, text, mode = 0o755) {
      const file = join(base, 'bin', name)
      writeFileSync(file, text, { mode })
      return file
    },
    shell: (name, script) => fixture.program(name, `#!/bin/sh\n${script}\n`),
    async run ({ program, args = [], envPassthrough = [], arguments: given = {}, parameters, startable = true, ...rest }) {
      const source = { format: 'agentcli', file: join(base, 'tools.json'), index: 0 } as const
      const tool = testTool({ kind: 'command', program, args, envPassthrough }, { source, ...parameters && { parameters } })
      const run = async (tool: Tool): Promise<Outcome> => await executors.run(tool, given, context(rest))
      return whole(keptReady === undefined || !startable ? await run(tool) : await keptReady.call(executors, tool, run))
    },
    // One that is kept ready does nothing before its arguments; a script with arguments reads its own.
    runShell: (script, rest = {}) => fixture.run({
      program: '/bin/sh', ...rest, args: ['-c', `${keptReady === undefined || rest.arguments !== undefined ? '' : 'while read -r _; do :; done; '}${script}`]
    }),
    runBuiltin: async (jobType, args, given = {}) => whole(await fixture.runBuiltinOnly(jobType, args, given)),
    async runBuiltinOnly (jobType, args, given = {}) {
      return await executors.run(testTool({ kind: 'builtin' }, { jobType }), args, context(given))
    },
    async auditLines () {
      await executors.close()
      const files = existsSync(auditDir) ? readdirSync(auditDir) : []
      const lines = files.flatMap(file => readFileSync(join(auditDir, file), 'utf8').trimEnd().split('\n'))
      return lines.map(line => JSON.parse(line) as Record<string, unknown>)
    }
  }
  return fixture
}

/** Makes a fixture's directories. */
export function makePlace (linkedWorkspace = false): Place {
  const base = mkdtempSync(join(tmpdir(), 'toolyard-'))
  const workspace = join(base, 'workspace')
  mkdirSync(join(base, 'bin'))
  mkdirSync(join(base, 'real'))
  if (linkedWorkspace) symlinkSync('real', workspace)
  else mkdirSync(workspace)
  return { base, workspace }
}

/** An outcome with its output as a value, also where a thread has written its JSON. */
export function whole (outcome: Outcome): Outcome {
  if (!outcome.ok || outcome.json === undefined) return outcome
  const { json, ...rest } = outcome
  return { ...rest, output: JSON.parse(json.toString()) as unknown }
}

/** The output of a run that must have succeeded. */
export function outputOf (outcome: Outcome): unknown {
  if (!outcome.ok) throw new Error(`the run failed: ${JSON.stringify(outcome.error)}`)
  return outcome.output
}

/** Whether a process exists and isn't merely waiting to be reaped. */
export function isAlive (pid: number): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0)
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !['Z', 'X'].includes(stat[stat.lastIndexOf(')') + 2] ?? 'X')
  } catch {
    return false
  }
}
