import type { Permission } from '@toolyard/contract'
import type { AuditStatus } from './audit-status.ts'
import type { PolicyRule } from './policy-rule.ts'
import type { ToolLimits } from './tool-limits.ts'
import type { SkillCommandRun } from './skill-command.ts'
import type { SkillFilesRun, SkillProgramRun, SkillRun } from './skill-run.ts'
import type { SecretUses } from './secret-use.ts'
import type { ServiceAction } from './service-action.ts'

export type { Permission } from '@toolyard/contract'
export type { SecretUse } from './secret-use.ts'
export type { ToolLimits } from './tool-limits.ts'

/** A JSON Schema of an object; kept as the manifest wrote it. */
export type JsonSchema = Record<string, unknown>

/** Where a tool was declared: shown by `validate`, `--explain` and in logs. */
export interface ToolSource {
  format: 'agentcli' | 'tool-manifest' | 'skill' | 'builtin'
  /** Absolute path of the manifest; `builtin` for the built-in tools. */
  file: string
  /** Place in the manifest's list of tools, from 0. */
  index: number
}

/** A program with fixed arguments; the call's arguments go to its stdin as JSON. */
export interface CommandRun {
  kind: 'command'
  /** Absolute path. */
  program: string
  /** The program as the manifest has it, which is what it is told as its own name; absent: its path. */
  name?: string
  args: string[]
  /** Names of environment variables that pass from the worker to the tool, normalized. */
  envPassthrough: string[]
  /** The digest of the program, in lower case hex; anything else isn't run. */
  sha256?: string
}

/** A class of a Python module, served by the warm host of its Python root. */
export interface PythonRun {
  kind: 'python'
  /** Absolute path of the directory from which modules are imported. */
  root: string
  /** As the manifest wrote it, e.g. `src.bridge.tools.git_status`, `mods/two.py`, `.mods.two`. */
  module: string
  className?: string
  /** The third constructor argument. */
  config: Record<string, unknown>
  /** The module's file: its absolute path, and its digest in lower case hex. */
  pin?: { file: string, sha256: string }
  /** Output name -> JSON Schema; what the tool returns is checked against it. */
  outputs?: Record<string, unknown>
  strictOutputs: boolean
}

/** A function of the worker itself, looked up by the tool's job type. */
interface BuiltinRun { kind: 'builtin' }

/** The API answers it by itself: no job is made, so that it takes nobody's place. */
export interface ServiceRun { kind: 'service', action: ServiceAction }

/** A text of a manifest, or the value of an environment variable of the worker, with a text in front of it. */
export type SettingText = string | { setting: string, prefix?: string } | { /** A stored one. */ secret: string, prefix?: string }

/** How an MCP server is reached: a program that is started, or a URL. */
export type McpConnection =
  | { kind: 'stdio', /** An absolute path, or a name that is looked for on the PATH. */ program: string, args: string[], env: Record<string, SettingText> }
  | { kind: 'http', url: SettingText, headers: Record<string, SettingText> }

export interface McpServer {
  /** Unique in its manifest. */ name: string
  connection: McpConnection
  /** In front of the names of its tools. */
  prefix: string
  /** Which tools: see `nameFilter`. */
  filter: readonly string[]
  /** All of its tools hold these: the server is one process. */
  permissions?: readonly Permission[]
  /** The hosts that it may reach, as with a tool. */ network?: readonly string[]
  unixSockets?: boolean
  limits?: ToolLimits
  source: ToolSource
  /** Absolute path of the file that holds the accepted tools. */
  lock: string
  /** Its questions during a call are passed on: the call is made again with the answer. */ asks?: boolean
  /** It is switched off: nobody asks it. */ off?: boolean
}

export interface McpRun {
  kind: 'mcp'
  server: McpServer
  /** Its name on the server. */
  remote: string
  title?: string
  /** Digest of the description and the schemas that were accepted; a tool with another one isn't called. */
  digest: string
  outputSchema?: JsonSchema
  /** Said by the server, and accepted by the operator: `readOnlyHint` and the like. */
  annotations?: Record<string, unknown>
}

export const httpMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
/** How a list or an object is written into a query: `a=1&a=2`, `a=1,2`, `a=1%202`, `a=1|2`, `a[b]=1`, or as JSON. */
export const queryStyles = ['repeat', 'comma', 'space', 'pipe', 'deepObject', 'json'] as const

/** A field of a query: an argument, or a secret by the name of an environment variable of the worker, or of a stored one. */
export type HttpQueryField = { name: string, argument: string, style: typeof queryStyles[number] } |
  { name: string, setting: string, stored?: true }

/** A header: texts and arguments, or a secret by the name of an environment variable of the worker. */
export type HttpHeader = { name: string, parts: ReadonlyArray<string | { argument: string }> } |
  { name: string, setting: string, prefix: string, base64: boolean, stored?: true }

/** The arguments that nothing else takes, or the value of one argument. With `none` those go to the query. */
export interface HttpBody {
  kind: 'none' | 'json' | 'form'
  /** Also where there is no argument for it. */
  always: boolean
  argument?: string
  /** How fields of a form are written; `repeat` for any other. */
  styles?: Readonly<Record<string, typeof queryStyles[number]>>
}

/** A request to an HTTP API, made by the worker itself. */
export interface HttpRun {
  kind: 'http'
  method: typeof httpMethods[number]
  /** Scheme, host and port: nothing else is connected to. */
  origin: string
  /** As it is sent, with arguments in their places. */
  path: ReadonlyArray<string | { argument: string }>
  /** The fixed part of the query: empty, or with its `?`. */
  search: string
  query: readonly HttpQueryField[]
  headers: readonly HttpHeader[]
  body: HttpBody
}

export type ToolRun = CommandRun | PythonRun | SkillRun | SkillCommandRun | McpRun | SkillFilesRun | SkillProgramRun |
  BuiltinRun | ServiceRun | HttpRun

/** Clients of MCP see it and models don't call it: a prompt, or a resource. */
export type PublishedAs = { kind: 'prompt' } |
  { kind: 'resource', /** May hold variables, which are its arguments: `resourceUri`. */ uri: string, mimeType?: string }

/** One callable thing, whatever format declared it. */
export interface Tool {
  name: string
  /** Empty when the manifest has none. */
  description: string
  /** The MCP server that it comes from, or the namespace of its manifest. */
  namespace?: string
  /** Words that it is found by. */ tags?: readonly string[]
  /** Models have it from the start where others are deferred. */ pinned?: true
  /** JSON Schema of the arguments; `{type: "object", properties: {}}` when the manifest has none. */
  parameters: JsonSchema
  /** The switchable record behind the tool, such as `data.file_read` or `agentcli.get_time`. */
  jobType: string
  /** The manifest's own execution timeout in seconds; absent: the job type's, else the service's. */
  timeoutSec?: number
  enabled: boolean
  /** May be run again for the same job after its worker died. */
  idempotent: boolean
  /** It may ask something back, and runs again from its start with the answer; absent: only where it is idempotent. */
  asks?: true
  /** At most one call of it runs at a time, over all workers; absent: as many as there are workers. */
  serial?: boolean
  /** Absent when its manifest names none: TOOL_DEFAULT_PERMISSIONS holds then. */
  permissions?: readonly Permission[]
  /** The hosts that its processes may reach, as `egressText` writes them; absent: what `permissions` say. */
  network?: readonly string[]
  /** Its processes may make Unix sockets. */
  unixSockets?: boolean
  limits?: ToolLimits
  secrets?: SecretUses
  /** Processes of a command that wait ready in each worker; absent: none. */
  warm?: number | 'auto'
  /** Rules on its calls. */ policy?: readonly PolicyRule[]
  /** Absent: models see it as a tool. */ publishAs?: PublishedAs
  /** Why it can't run: it isn't published, and doesn't replace a tool of an earlier layer. */
  unavailable?: string
  /** Free text for operators. */ notes?: string
  /** Of what was added from elsewhere. */ audit?: AuditStatus
  source: ToolSource
  run: ToolRun
}
