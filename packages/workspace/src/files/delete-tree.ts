import { randomUUID } from 'node:crypto'
import { rename, rmdir, unlink } from 'node:fs/promises'
import { asError, errorCode } from '@toolyard/contract/terms'
import { entryPath, openDirectory, type Directory } from '../walk/directory.ts'
import { readEntries } from '../walk/entries.ts'
import { giveOwnerRights } from '../walk/owner-rights.ts'

/** Levels of directories that are gone into: each keeps descriptors open. What lies deeper is moved to the top first. */
export const maxDepth = 200
/** Entries of a directory that are in memory at a time: a few, since each level has so many. */
const bufferSize = 32

/**
 * Removes a directory and all that is in it, and counts what it removed.
 *
 * @throws the reason of the signal; the error of the first entry that can't be removed, when all others are.
 */
export async function deleteTree (parent: Directory, name: string, signal: AbortSignal): Promise<number> {
  const { removed, error } = await removeTree(parent, name, { givesRights: false, isOver: () => signal.aborted })
  signal.throwIfAborted()
  if (error !== undefined) throw error
  return removed
}

interface RemovalOptions {
  /** Whether their owner gets the rights back that directories lack. */
  givesRights: boolean
  /** Asked before each entry; true ends it. */
  isOver: () => boolean
}

export interface Removal {
  removed: number
  /** Of the first entry that can't be removed; the others were. */
  error: Error | undefined
  /** Whether `isOver` ended it. */
  ended: boolean
}

/**
 * Removes a directory and all that is in it. It goes into directories through the one above and never by a link, whatever is
 * swapped meanwhile. What is gone by itself is no error.
 */
export async function removeTree (parent: Directory, name: string, options: RemovalOptions): Promise<Removal> {
  const tree = new Tree(options)
  await tree.remove(parent, name)
  return tree.removal
}

class Tree {
  readonly removal: Removal = { removed: 0, error: undefined, ended: false }
  readonly #options: RemovalOptions
  #faults = 0
  #moved = 0

  constructor (options: RemovalOptions) {
    this.#options = options
  }

  async remove (parent: Directory, name: string): Promise<void> {
    await this.#attempt(async () => {
      const top = openDirectory(parent, name)
      try {
        for (let before = -1; before < this.#moved && this.#isWhole;) {
          before = this.#moved
          await this.#empty(top, { top, depth: 0 })
        }
      } finally {
        top.handle.close()
      }
      if (!this.#isWhole) return false
      await rmdir(entryPath(parent, name))
      return true
    })
  }

  get #isWhole (): boolean {
    return !this.removal.ended && this.#faults === 0
  }

  async #empty (directory: Directory, { top, depth }: { top: Directory, depth: number }): Promise<void> {
    if (this.#options.givesRights) giveOwnerRights(directory)
    for await (const { name, dirent } of readEntries(directory, bufferSize)) {
      this.removal.ended ||= this.#options.isOver()
      if (this.removal.ended) return
      await this.#attempt(async () => {
        if (!dirent.isDirectory()) await unlink(entryPath(directory, name))
        else if (await this.#enter(directory, name, { top, depth: depth + 1 })) await rmdir(entryPath(directory, name))
        else return false
        return true
      })
    }
  }

  /** Whether the directory is empty by then. */
  async #enter (parent: Directory, name: string, { top, depth }: { top: Directory, depth: number }): Promise<boolean> {
    const faults = this.#faults
    const directory = openDirectory(parent, name)
    try {
      if (depth <= maxDepth) await this.#empty(directory, { top, depth })
      else await this.#moveToTop(parent, name, { directory, top })
    } finally {
      directory.handle.close()
    }
    return depth <= maxDepth && !this.removal.ended && this.#faults === faults
  }

  async #moveToTop (parent: Directory, name: string, { directory, top }: { directory: Directory, top: Directory }): Promise<void> {
    // Who may not write to a directory can't move it elsewhere.
    if (this.#options.givesRights) giveOwnerRights(directory)
    await rename(entryPath(parent, name), entryPath(top, randomUUID()))
    this.#moved += 1
  }

  /** @param step whether it has removed an entry */
  async #attempt (step: () => Promise<boolean>): Promise<void> {
    try {
      if (await step()) this.removal.removed += 1
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return
      this.#faults += 1
      this.removal.error ??= asError(error)
    }
  }
}
