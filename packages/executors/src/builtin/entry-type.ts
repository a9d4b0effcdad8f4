import type { Dirent } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolveInWorkspace } from './workspace-path.ts'

export type EntryType = 'file' | 'directory'

/** What a directory entry is, through links; undefined for anything else and for what lies outside the workspace. */
export async function resolvedType (root: string, absolute: string, entry: Dirent): Promise<EntryType | undefined> {
  if (!entry.isSymbolicLink()) return typeOf(entry)
  try {
    const target = await resolveInWorkspace(root, absolute, 'path not found')
    return typeOf(await stat(target.absolute))
  } catch {
    return undefined
  }
}

function typeOf (entry: Pick<Dirent, 'isFile' | 'isDirectory'>): EntryType | undefined {
  if (entry.isFile()) return 'file'
  return entry.isDirectory() ? 'directory' : undefined
}
