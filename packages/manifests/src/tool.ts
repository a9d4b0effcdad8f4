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

/** A program with fixed arguments; the call's arguments go to its stdin as JSON (A8 to A16). */
export interface CommandRun {
  kind: 'command'
  /** Absolute path. */
  program: string
  args: string[]
  /** Names of environment variables that pass from the worker to the tool, normalized (A19 to A22). */
  envPassthrough: string[]
}

/** A class of a Python module, served by the warm host of its Python root (P15 to P17). */
export interface PythonRun {
  kind: 'python'
  /** Absolute path of the directory from which modules are imported. */
  root: string
  /** As the manifest wrote it, e.g. `src.bridge.tools.git_status`, `mods/two.py`, `.mods.two` (PC13). */
  module: string
  className?: string
  /** The third constructor argument (PC14). */
  config: Record<string, unknown>
  /** Output name -> JSON Schema; what the tool returns is checked against it. */
  outputs?: Record<string, unknown>
  strictOutputs: boolean
}

/** A function of the worker itself, looked up by the tool's job type. */
export interface BuiltinRun {
  kind: 'builtin'
}

export type ToolRun = CommandRun | PythonRun | BuiltinRun

/** What a tool may do beyond reading its own files; the sandbox enforces it (P18). */
export type Permission = 'read_repo' | 'write_files' | 'network'

/** One callable thing, whatever format declared it. */
export interface Tool {
  name: string
  /** Empty when the manifest has none (R50). */
  description: string
  /** JSON Schema of the arguments; `{type: "object", properties: {}}` when the manifest has none (R50). */
  parameters: JsonSchema
  /** The switchable record behind the tool, such as `data.file_read` or `agentcli.get_time`. */
  jobType: string
  /** The manifest's own execution timeout in seconds; absent: the job type's, else the service's. */
  timeoutSec?: number
  enabled: boolean
  /** May be run again for the same job after its worker died. */
  idempotent: boolean
  /** At most one call of it runs at a time, over all workers (X17); absent: as many as there are workers. */
  serial?: boolean
  /** What it may do; absent when its manifest doesn't say, which the sandbox has a default for. */
  permissions?: readonly Permission[]
  /** Why it can't run: it isn't published, and doesn't replace a tool of an earlier layer (X16). */
  unavailable?: string
  /** Free text for operators (P23). */
  notes?: string
  source: ToolSource
  run: ToolRun
}
