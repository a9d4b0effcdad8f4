import type { Remark } from '../finding/finding-list.ts'
import type { ReadLock } from './lock/lock-file.ts'
import type { Schemas } from '../schema/schemas.ts'
import type { McpServer } from '../tool/tool.ts'
import type { LayerEntry } from './layer.ts'
import type { SkillSettings } from './skill.ts'

export interface KindPlace {
  /** Absolute path of the manifest. */
  file: string
  index: number
  schemas: Schemas
  readLock: ReadLock
  /** Names of the entries of its kind before it. */
  names: Set<string>
}

/** A fault takes away this entry alone: the format that it stands in knows none of these kinds. */
export interface KindReading {
  entries: readonly LayerEntry[]
  findings: readonly Remark[]
  /** Files to watch beside the manifest. */
  files?: readonly string[]
  servers?: readonly McpServer[]
  skillSettings?: readonly SkillSettings[]
}
