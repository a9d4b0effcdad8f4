import type { DuplicateKey } from '../document/duplicate-keys.ts'
import type { EntryMemory } from '../document/known-entries.ts'
import type { Finding } from '../finding/finding.ts'
import type { ReadLock } from './lock/lock-file.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { Skill, SkillSettings } from './skill.ts'
import type { McpServer, Tool } from '../tool/tool.ts'

/** One manifest after reading: what it declares, in its own order. */
export interface Layer {
  entries: readonly LayerEntry[]
  findings: readonly Finding[]
  /** Tools of skills that another skill replaces as a whole. */
  leftOut?: ReadonlyArray<Pick<Tool, 'name' | 'source'> & { because: string }>
  /** Skills of the manifest; `joinSkills` makes entries of their tools. */
  skills?: readonly Skill[]
  /** Also about skills of other layers. */
  skillSettings?: readonly SkillSettings[]
  /** MCP servers that it names, also those that have no accepted tools. */
  servers?: readonly McpServer[]
  /** Absolute paths of the files and directories that it was read from. */
  files?: readonly string[]
  /** The manifest can't be read, so that nothing of it is here. */
  isUnread?: boolean
}

export type LayerEntry = ToolEntry | SwitchEntry

/** A whole declaration; it replaces a tool of the same name of an earlier layer. */
export interface ToolEntry {
  kind: 'tool'
  tool: Tool
  /** Allows it to replace a built-in tool. */
  override: boolean
}

/** `{"name": "x", "enabled": false}`: switches a tool of an earlier layer, and changes nothing else. */
export interface SwitchEntry {
  kind: 'switch'
  name: string
  enabled: boolean
  file: string
  index: number
}

export interface ManifestText {
  /** Absolute path. */
  file: string
  value: unknown
  syntax: 'json' | 'yaml'
  /** Whether the text began with a byte order mark, which `value` is without. */
  byteOrderMark: boolean
  /** Whether all of the file was UTF-8; U+FFFD stands for what wasn't. */
  utf8: boolean
  /** Keys that stand twice in one object; the last value counts. */
  duplicates: readonly DuplicateKey[]
  /** Whether every fault is told, also where the first one decides. */
  everyFault: boolean
  schemas: Schemas
  readLock: ReadLock
  /** Entries of the load before. */
  known: EntryMemory
  /** Where programs are looked for, as in the variable PATH; nothing is looked for when it is empty. */
  searchPath: string
}
