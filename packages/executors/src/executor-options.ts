import type { FileSearch } from '@toolyard/contract/terms'
import type { CallError, McpTool } from '@toolyard/contract/terms'
import type { McpServer, Tool } from '@toolyard/manifests'
import type { BuiltinOptions } from './builtin/builtins.ts'
import type { WarmLimits } from './command/warm-commands.ts'
import type { EgressDecision } from './egress/calls.ts'
import type { Tried } from './python/try/try-module.ts'
import type { CompileSchema } from './result/declared-output.ts'
import type { Outcome, RunContext } from './run/outcome.ts'
import type { WorkerHost } from './run/tool-call.ts'
import type { StockLimits } from './warm/box-stock.ts'
import type { SecretSource } from './with-secrets.ts'

export interface ExecutorOptions extends Omit<WorkerHost, 'launcher' | 'pins' | 'onSurvivors' | 'threads' | 'http' | 'checkOutput'>, Partial<Pick<WorkerHost, 'http'>> {
  /** Which built-in tools there are beside those of the workspace; default none. */
  builtins?: BuiltinOptions
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
  /** Compiles the patterns of names in the schemas of arguments that name files. */
  compilePattern?: FileSearch['compile']
}

/** Runs tools of every kind. */
export interface Executors {
  /** Makes ready what calls need while this process is still small, and takes little memory and time to fork. */
  prepare (): Promise<void>
  /**
   * Says which tools there are from now on. Processes of those that ask for it wait ready, in their boxes, each for one call.
   * A connection to an MCP server whose entry was removed or changed ends after its last call.
   */
  keep (tools: readonly Tool[]): void
  /** Starts a process that does nothing: what the worker is out of, if that fails. */
  tryStart (): Promise<string | undefined>
  /** How many processes of a tool wait ready; without a name, how many boxes. */
  waiting (name?: string): number
  /**
   * Runs one call of a tool to its end; rejects only for bugs. When it settles, no process of the call is left.
   *
   * @param tool as the call runs it: see `toolOfCall`
   */
  run (tool: Tool, args: Record<string, unknown>, context: RunContext): Promise<Outcome>
  /**
   * Imports the module of Python tools that have the same one, as their first call would but without the network, and
   * constructs the class of each. Other tools have nothing that could be missing.
   */
  tryModule (tools: readonly Tool[]): Promise<Tried[]>
  /** The tools that a server offers now, or why it can't be asked. */
  toolsOf (server: McpServer): Promise<readonly McpTool[] | CallError>
  /** Begins to end what is kept for a session that is removed: the servers that its calls have used. */
  endSession (id: string): void
  /**
   * Fulfilled when every run has ended, its audit line is on disk, and no process is left. To end runs early, abort
   * their signals first.
   */
  close (): Promise<void>
}
