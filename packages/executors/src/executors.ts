import type { Tool } from '@toolyard/manifests'
import type { Audit } from './audit/audit.ts'
import { auditOfCall } from './audit/audited-call.ts'
import { createBuiltins, type BuiltinOptions } from './builtin/builtins.ts'
import { runBuiltin } from './builtin/run-builtin.ts'
import { toolEnvironment } from './command/environment.ts'
import { runCommand, type CommandHost } from './command/run-command.ts'
import type { Outcome, RunContext } from './outcome.ts'
import { closeStrayDescriptors } from './process/descriptors.ts'
import { createMarks } from './process/mark.ts'
import { sandboxError } from './process/start-error.ts'
import { createHosts } from './python/hosts.ts'
import { createOutputCheck, type CompileSchema } from './python/outputs.ts'
import { runPython } from './python/run-python.ts'
import { interruptionError } from './result/interruption.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { readSkill } from './skill/read-skill.ts'
import { runSkill } from './skill/run-skill.ts'

/** What executors work with. */
export interface ExecutorOptions {
  /** Root of the built-in file tools, working directory of tools. */
  workspaceDir: string
  /** The environment that PATH, HOME and the names of `envPassthrough` are taken from. */
  env: NodeJS.ProcessEnv
  /** Bytes of a tool's stdout that are kept; the rest is read and counted. */
  maxOutputBytes: number
  audit: Audit
  /** Which built-in tools there are beside those of the workspace; default none. */
  builtins?: BuiltinOptions
  /** Shuts in the processes of tools; without it they run in the open. */
  sandbox?: Sandbox
  logger?: ExecutorLogger
  /** Compiles the schemas of declared outputs (P21); absent, outputs aren't checked. */
  compileSchema?: CompileSchema
}

/** The part of a logger that executors need. */
export interface ExecutorLogger {
  warn (fields: object, message: string): void
}

/** Runs tools of every kind. */
export interface Executors {
  /** Runs one call of a tool to its end; rejects only for bugs. When it settles, no process of the call is left. */
  run (tool: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome>
  /**
   * Fulfilled when every run has ended, its audit line is on disk, and no process is left. To end runs early, abort
   * their signals first.
   */
  close (): Promise<void>
}

/**
 * Makes the executors of one worker. Between runs they keep nothing open but the warm hosts of Python tools, and for a
 * while a thread or two for searches, which end with `close`, or with the worker. Descriptors that the worker's process inherited, beside the first three, are closed:
 * tools would get them.
 */
export function createExecutors (options: ExecutorOptions): Executors {
  closeStrayDescriptors()
  const running = new Set<Promise<Outcome>>()
  const host = {
    ...options,
    marks: createMarks(),
    onSurvivors: (pids: number[]) => { options.logger?.warn({ pids }, 'processes of a call outlived SIGKILL') }
  }
  const hosts = createHosts({
    ...host,
    env: toolEnvironment([], options.env).variables,
    onHostEnd: (root, message) => { options.logger?.warn({ root, message }, 'a Python host ended') }
  })
  const python = { ...host, hosts, checkOutput: createOutputCheck(options.compileSchema ?? (() => () => ({ ok: true }))) }
  const builtins = createBuiltins(options.builtins ?? {}, host)

  async function runTool (tool: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome> {
    if (context.signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: context.signal.reason }) }
    const refusal = options.sandbox?.refusalOf(tool)
    if (refusal !== undefined) return { ok: false, error: sandboxError(refusal) }
    const box = options.sandbox?.boxOf(tool)
    const audit = auditOfCall(options.audit, args, {
      key: context.keyName ?? '',
      permissions: options.sandbox?.permissionsOf(tool) ?? tool.permissions ?? [],
      sandbox: options.sandbox?.levelOf(tool) ?? 'none'
    })
    const toolHost = { ...host, audit, ...(box === undefined ? {} : { box }) }
    switch (tool.run.kind) {
      case 'command':
        return await runCommand(tool.name, tool.run, args, context, toolHost)
      case 'python':
        return await runPython(tool, tool.run, args, context, { ...python, audit })
      case 'skill':
        return await runSkill(tool.name, tool.run, args, context, toolHost)
      case 'read-skill':
        return readSkill(tool.run, args)
      case 'builtin':
        return await runBuiltinTool(tool, args, context, toolHost)
    }
  }

  async function runBuiltinTool (tool: Tool, args: Record<string, unknown>, context: RunContext, processes: CommandHost): Promise<Outcome> {
    const handler = builtins.handlers.get(tool.jobType)
    if (handler === undefined) return { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: `no built-in tool has the job type ${tool.jobType}` } }
    return await runBuiltin(handler, { tool, args }, context, processes)
  }

  return {
    async run (tool, args, context) {
      const run = runTool(tool, args, context)
      running.add(run)
      try {
        return await run
      } finally {
        running.delete(run)
      }
    },
    async close () {
      await Promise.allSettled(running)
      await hosts.close()
      await builtins.close()
      await options.audit.flush()
    }
  }
}
