import type { Tool } from '@toolyard/manifests'
import type { Audit } from './audit/audit.ts'
import { builtins } from './builtin/builtins.ts'
import { runBuiltin } from './builtin/run-builtin.ts'
import { runCommand } from './command/run-command.ts'
import type { Outcome, RunContext } from './outcome.ts'
import { closeStrayDescriptors } from './process/descriptors.ts'
import { createMarks } from './process/mark.ts'
import { interruptionError } from './result/interruption.ts'
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
  logger?: ExecutorLogger
}

/** The part of a logger that executors need. */
export interface ExecutorLogger {
  warn (fields: object, message: string): void
}

/** Runs tools of every kind. */
export interface Executors {
  /** Runs one call of a tool to its end; rejects only for bugs. When it settles, no process of the call is left. */
  run (tool: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome>
  /** Fulfilled when every run has ended and its audit line is on disk. To end runs early, abort their signals first. */
  close (): Promise<void>
}

/**
 * Makes the executors of one worker; they keep nothing open between runs. Descriptors that the worker's process
 * inherited, beside the first three, are closed: tools would get them.
 */
export function createExecutors (options: ExecutorOptions): Executors {
  closeStrayDescriptors()
  const running = new Set<Promise<Outcome>>()
  const host = {
    ...options,
    marks: createMarks(),
    onSurvivors: (pids: number[]) => { options.logger?.warn({ pids }, 'processes of a call outlived SIGKILL') }
  }

  async function runTool (tool: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome> {
    if (context.signal.aborted) return { ok: false, error: interruptionError({ kind: 'abort', reason: context.signal.reason }) }
    switch (tool.run.kind) {
      case 'command':
        return await runCommand(tool.name, tool.run, args, context, host)
      case 'skill':
        return await runSkill(tool.name, tool.run, args, context, host)
      case 'read-skill':
        return readSkill(tool.run, args)
      case 'builtin':
        return await runBuiltinTool(tool, args, context)
    }
  }

  async function runBuiltinTool (tool: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome> {
    const handler = builtins.get(tool.jobType)
    if (handler === undefined) return { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: `no built-in tool has the job type ${tool.jobType}` } }
    return await runBuiltin(handler, args, context, options.workspaceDir)
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
      await options.audit.flush()
    }
  }
}
