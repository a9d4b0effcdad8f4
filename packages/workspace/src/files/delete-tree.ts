import { opendir, rmdir, unlink } from 'node:fs/promises'
import { WorkspaceFailure } from '../failure/failure.ts'
import { entryPath, openDirectory, type Directory } from '../walk/directory.ts'

/** Levels of directories that are gone into: each keeps a descriptor open. */
export const maxDepth = 200

/**
 * Removes a directory and all that is in it, and counts what it removed. It goes into directories through the one above
 * and never by a link, whatever is swapped meanwhile.
 */
export async function deleteTree (parent: Directory, name: string, signal: AbortSignal, depth = 0): Promise<number> {
  if (depth > maxDepth) throw new WorkspaceFailure(`directories are nested deeper than ${maxDepth}`)
  const directory = openDirectory(parent, name)
  let deleted = 1
  try {
    for await (const entry of await opendir(entryPath(directory, '.'))) {
      signal.throwIfAborted()
      if (entry.isDirectory()) {
        deleted += await deleteTree(directory, entry.name, signal, depth + 1)
      } else {
        await unlink(entryPath(directory, entry.name))
        deleted += 1
      }
    }
  } finally {
    directory.handle.close()
  }
  await rmdir(entryPath(parent, name))
  return deleted
}
