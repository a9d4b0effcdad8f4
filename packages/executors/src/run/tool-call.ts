import type { Permission } from '@toolyard/contract'
import type { DenyTest, JsonSchema, Tool } from '@toolyard/manifests'
import type { Lookup } from '@toolyard/runtime/outgoing'
import type { Threads } from '@toolyard/runtime/threads'
import type { BoxNetwork, ProcessGroups, ProcessHost } from '@toolyard/sandbox'
import type { Audit } from '../audit/audit.ts'
import type { RunContext } from './outcome.ts'
import type { Sandbox } from './sandbox.ts'

export interface HttpPolicy {
  /** Host names and addresses that may be private, loopback or link-local; `*` means all. */
  privateHosts: readonly string[]
  lookup?: Lookup
  /** Authorities of hosts whose requests carry secrets, in PEM; absent: those of Node and NODE_EXTRA_CA_CERTS. */
  authorities?: readonly string[]
}

/** Remembers which files the model of a session has been shown. */
export interface ShownFiles {
  /** Notes a file, and says whether it is new to the session. */
  isFirst (session: string, path: string): Promise<boolean>
}

export interface ExecutorLogger {
  warn (fields: object, message: string): void
}

/** Says what is wrong with an output, in one line; undefined when it is as its schema says. */
export type DeclaredCheck = (schema: JsonSchema, output: unknown) => Promise<string | undefined>

/** Shared by all calls of a worker. */
export interface WorkerHost extends Pick<ProcessHost, 'launcher' | 'pins' | 'onSurvivors'> {
  /** Root of the built-in file tools, working directory of tools. */
  workspaceDir: string
  /** Files and directories of the service that no built-in tool touches, absolute; a sandbox has its own list. */
  serviceFiles?: readonly string[]
  /** What none of them changes, absolute: manifests, their programs, rules. */
  declarations?: readonly string[]
  /** The environment that PATH, HOME and the names of `envPassthrough` are taken from. */
  env: NodeJS.ProcessEnv
  /** Bytes of a tool's stdout that are kept; the rest is read and counted. */
  maxOutputBytes: number
  audit: Audit
  /** Where requests of HTTP tools and to MCP servers may lead; default only public hosts. */
  http: HttpPolicy
  /** Shuts in the processes of tools; without it they run in the open. */
  sandbox?: Sandbox
  logger?: ExecutorLogger
  /** Compiles the patterns that values of skills must not match; throws for one that can't be held to. Absent, such values are refused. */
  compileDeny?: (pattern: string) => DenyTest
  /** Remembers which files the models of sessions have seen, for all workers; absent, they see them each time. */
  shownFiles?: ShownFiles
  threads: Threads
  checkOutput: DeclaredCheck
}

export interface ToolCall extends ProcessHost {
  worker: WorkerHost
  tool: Tool
  args: Record<string, unknown>
  context: RunContext
  /** Writes to each line what is known of the call. */
  audit: Audit
  /** By the tool's manifest and the service's settings; undefined: nothing says it. */
  held: readonly Permission[] | undefined
  /** Absolute path of the workspace, or of the session's directory. */
  filesDir: string
  /** The same, as its processes see it: in a box, a session's directory is in the place of the workspace. */
  workspaceDir: string
  maxOutputBytes: number
  /** Of a tool that names its hosts. */
  network: BoxNetwork | undefined
  /** Makes a control group that has a share of the processor and a number of processes of its own; absent where there are none. */
  share?: ProcessGroups['share'] | undefined
}
