import type { Dirent, Stats } from 'node:fs'

type EntryKind = 'file' | 'directory' | 'link' | 'other'

/** A link is not followed. */
export function entryKind (entry: Pick<Dirent | Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): EntryKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
