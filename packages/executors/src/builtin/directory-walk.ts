import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { openInWorkspace, type WorkspacePath } from './workspace-path.ts'
import { resolvedType, type EntryType } from './entry-type.ts'

export interface WalkOptions {
  /** Whether to go on into what has a name that starts with a dot. */
  includeHidden: boolean
  maxScanned: number
  signal: AbortSignal
}

export interface WalkEntry {
  absolute: string
  /** Undefined for what is neither file nor directory, and for a link that leaves the workspace. */
  type (): Promise<EntryType | undefined>
}

export interface Walk {
  entries: AsyncIterable<WalkEntry>
  /** Entries looked at so far. */
  scanned (): number
  /** Whether `maxScanned` ended the walk. */
  truncated (): boolean
}

/**
 * Walks a directory of the workspace from top to bottom, each directory sorted by name and before its contents. Links
 * are entries, but never followed; directories that can't be read are left out.
 */
export function walkDirectory (base: WorkspacePath, options: WalkOptions): Walk {
  let scanned = 0
  let truncated = false

  async function * walk (directory: string): AsyncGenerator<WalkEntry> {
    for (const entry of await listDirectory(directory)) {
      options.signal.throwIfAborted()
      const absolute = join(directory, entry.name)
      yield { absolute, type: () => resolvedType(base.root, absolute, entry) }
      if (entry.isDirectory() && !truncated) yield * walk(absolute)
    }
  }

  async function listDirectory (directory: string): Promise<Dirent[]> {
    const opened = await openInWorkspace({ root: base.root, absolute: directory }).catch(() => undefined)
    if (opened === undefined) return []
    try {
      return await readEntries(opened.path)
    } finally {
      await opened.handle.close()
    }
  }

  async function readEntries (path: string): Promise<Dirent[]> {
    const entries: Dirent[] = []
    for await (const entry of await opendir(path, { bufferSize: 256 })) {
      options.signal.throwIfAborted()
      truncated = scanned >= options.maxScanned
      if (truncated) break
      scanned += 1
      if (options.includeHidden || !entry.name.startsWith('.')) entries.push(entry)
    }
    return entries.sort((a, b) => a.name < b.name ? -1 : 1)
  }

  return { entries: walk(base.absolute), scanned: () => scanned, truncated: () => truncated }
}
