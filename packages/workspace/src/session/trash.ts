import { randomUUID } from 'node:crypto'
import type { Dir, Dirent } from 'node:fs'
import { opendir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { asError, errorCode } from '@toolyard/contract/terms'
import { giveOwnerRightsAt } from './owner-rights.ts'

/** Entries of a directory that are in memory at a time. */
const bufferSize = 64

/**
 * Removes what sessions left, for a while. No directory is walked: a subdirectory is moved to the top, and removed there in its
 * turn. So the memory and the length of paths are the same for ten million entries and a thousand levels, and whoever goes on
 * after a crash finds nothing but directories to empty.
 *
 * @param forMs how long one turn may take
 * @param onFault gets the error for each that can't be removed; the others are removed
 */
export async function clearTrash (dir: string, forMs: number, onFault: (error: Error) => void): Promise<void> {
  const until = performance.now() + forMs
  const trash = join(dir, '.trash')
  for await (const entry of entriesOf(trash)) {
    try {
      if (!await remove(join(trash, entry.name), { entry, trash, until })) return
    } catch (error) {
      onFault(asError(error))
    }
  }
}

/** False when the time is over. */
async function remove (path: string, { entry, trash, until }: { entry: Dirent, trash: string, until: number }): Promise<boolean> {
  if (!entry.isDirectory()) {
    await unlink(path).catch(unlessGone)
    return performance.now() < until
  }
  allowAll(path)
  for await (const inner of entriesOf(path)) {
    const innerPath = join(path, inner.name)
    if (inner.isDirectory()) {
      allowAll(innerPath)
      await rename(innerPath, join(trash, randomUUID())).catch(unlessGone)
    } else {
      await unlink(innerPath).catch(unlessGone)
    }
    if (performance.now() >= until) return false
  }
  await rmdir(path).catch(unlessGone)
  return performance.now() < until
}

/** What a stopped worker has left may still put a link there, which isn't followed. */
function allowAll (path: string): void {
  try {
    giveOwnerRightsAt(path)
  } catch (error) {
    unlessGone(error)
  }
}

async function * entriesOf (path: string): AsyncGenerator<Dirent> {
  let directory: Dir
  try {
    directory = await opendir(path, { bufferSize })
  } catch (error) {
    return unlessGone(error)
  }
  yield * directory
}

/** Two processes may be at it, and something may come into a directory that was empty. */
function unlessGone (error: unknown): undefined {
  if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) throw error
}
