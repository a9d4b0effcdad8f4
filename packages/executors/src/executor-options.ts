import type { CompilePattern } from './run/file-places.ts'
import type { CallError, McpTool } from '@toolyard/contract/terms'
import type { McpServer, Tool } from '@toolyard/manifests'
import type { Audit } from './audit/audit.ts'
import type { BuiltinOptions } from './builtin/builtins.ts'
import type { WarmLimits } from './command/warm-commands.ts'
import type { EgressDecision } from './egress/calls.ts'
import type { HttpPolicy } from './http/run-http.ts'
import type { Tried } from './python/try/try-module.ts'
import type { CompileSchema } from './result/declared-output.ts'
import type { Outcome, RunContext } from './run/outcome.ts'
import type { Sandbox } from './run/sandbox.ts'
import type { StockLimits } from './warm/box-stock.ts'
import type { CompileDeny } from './skill/three-files/deny.ts'
import type { ShownFiles } from './skill/three-files/run-skill-command.ts'
import type { SecretSource } from './with-secrets.ts'

export interface ExecutorOptions {
  /** Root of the built-in file tools, working directory of tools. */
  workspaceDir: string
  /** Files and directories of the service that no built-in tool touches, absolute; a sandbox has its own list. */
  serviceFiles?: readonly string[]
  /** The environment that PATH, HOME and the names of `envPassthrough` are taken from. */
  env: NodeJS.ProcessEnv
  /** Bytes of a tool's stdout that are kept; the rest is read and counted. */
  maxOutputBytes: number
  audit: Audit
  /** Which built-in tools there are beside those of the workspace; default none. */
  builtins?: BuiltinOptions
  /** Where requests of HTTP tools and to MCP servers may lead; default only public hosts. */
  http?: HttpPolicy
  /** Shuts in the processes of tools; without it they run in the open. */
  sandbox?: Sandbox
  logger?: ExecutorLogger
  /** Opens stored secrets; absent, no tool can use one. */
  secrets?: SecretSource | undefined
  /** Hears of each connection of tools that name their hosts. */
  onConnection?: (decision: EgressDecision) => void
  /** Bounds of processes that wait ready for tools that ask for it; without it none does. */
  warm?: WarmLimits
  /** Bounds of boxes that are made ahead of calls; without it none is. */
  stock?: StockLimits
  /** Compiles the schemas of declared outputs; absent, outputs aren't checked. */
  compileSchema?: CompileSchema
  /** Compiles the patterns that values of skills must not match; absent, such a value is refused. */
  compileDeny?: CompileDeny
  /** Remembers which files the models of sessions have seen, for all workers; absent, they see them each time. */
  shownFiles?: ShownFiles
  /** Compiles the patterns of names in the schemas of arguments that name files. */
  compilePattern?: CompilePattern
}

export interface ExecutorLogger {
  warn (fields: object, message: string): void
}

/** Runs tools of every kind. */
export interface Executors {
  /** Makes ready what calls need while this process is still small, and takes little memory and time to fork. */
  prepare (): Promise<void>
  /** Says which tools there are from now on: processes of those that ask for it wait ready, in their boxes, each for one call. */
  keepWarm (tools: readonly Tool[]): void
  /** Starts a process that does nothing: what the worker is out of, if that fails. */
  tryStart (): Promise<string | undefined>
  /** How many processes of a tool wait ready; without a name, how many boxes. */
  waiting (name?: string): number
  /** Runs one call of a tool to its end; rejects only for bugs. When it settles, no process of the call is left. */
  run (tool: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome>
  /**
   * Imports the module of Python tools that have the same one, as their first call would but without the network, and
   * constructs the class of each. Other tools have nothing that could be missing.
   */
  tryModule (tools: readonly Tool[]): Promise<Tried[]>
  /** What a server offers now, or why it can't be asked. */
  toolsOf (server: McpServer): Promise<readonly McpTool[] | CallError>
  /** Begins to end what is kept for a session that is removed: the servers that its calls have used. */
  endSession (id: string): void
  /**
   * Fulfilled when every run has ended, its audit line is on disk, and no process is left. To end runs early, abort
   * their signals first.
   */
  close (): Promise<void>
}
