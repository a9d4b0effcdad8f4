import type { Finding } from './finding.ts'
import type { SchemaCompiler } from './schema/compiler.ts'
import type { Skill } from './skill/skill.ts'
import type { Tool } from './tool.ts'

/** One manifest after reading: what it declares, in its own order. */
export interface Layer {
  entries: readonly LayerEntry[]
  findings: readonly Finding[]
  /** Skills of the manifest; `joinSkills` makes entries of their tools. */
  skills?: readonly Skill[]
}

export type LayerEntry = ToolEntry | SwitchEntry

/** A whole declaration; it replaces a tool of the same name of an earlier layer. */
export interface ToolEntry {
  kind: 'tool'
  tool: Tool
  /** Allows it to replace a built-in tool (X13). */
  override: boolean
}

/** `{"name": "x", "enabled": false}`: switches a tool of an earlier layer, and changes nothing else (X14). */
export interface SwitchEntry {
  kind: 'switch'
  name: string
  enabled: boolean
  file: string
  index: number
}

/** What a format's reader is given. */
export interface ManifestText {
  /** Absolute path. */
  file: string
  /** The parsed JSON. */
  value: unknown
  schemas: SchemaCompiler
}
