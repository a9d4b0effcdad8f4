import type { PathLike } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { asError, errorCode } from '@toolyard/contract/terms'
import { removeTree, type Removal } from '../files/delete-tree.ts'
import { entryPath, openTopDirectory, type Directory } from '../walk/directory.ts'
import { readEntries, type DirectoryEntry } from '../walk/entries.ts'
import { Backoff } from './backoff.ts'
import { trashIn } from './session-directory.ts'

/** Entries that are in memory at a time. */
const bufferSize = 64
/** How long one session is removed before it is the next one's turn, in milliseconds. */
const sliceMs = 50

/** A session whose files can't be removed. */
export interface TrashFault {
  /** Its directory in `.trash`, whose name begins with the id of the session. */
  path: string
  error: Error
  failures: number
}

/** The entries to be removed, as far as they are read. */
interface TrashList {
  directory: Directory
  entries: AsyncGenerator<DirectoryEntry>
  /** Something was begun, and isn't removed yet. */
  hasMore: boolean
}

/*
 * States: closed -> reading (the list of what is to be removed stays open from one turn to the next, so that each session gets
 * its turn, however many others there are and however large) -> closed at its end.
 */

/** Removes what sessions left, a slice of time for each. Whoever goes on after a crash finds nothing but directories to remove. */
export class Trash {
  readonly #path: string
  readonly #onFault: (fault: TrashFault) => void
  readonly #backoff = new Backoff()
  #list: TrashList | undefined
  #isAtWork = false
  #isClosed = false

  /** @param onFault gets each that can't be removed, whenever it was tried; it is tried again, ever more seldom */
  constructor (dir: string, onFault: (fault: TrashFault) => void) {
    this.#path = trashIn(dir)
    this.#onFault = onFault
  }

  /** How many can't be removed. */
  get stuck (): number {
    return this.#backoff.size
  }

  /** Removes for so long, or until nothing is left but what can't be removed. */
  async clear (forMs: number): Promise<void> {
    this.#isAtWork = true
    try {
      await this.#removeUntil(performance.now() + forMs)
    } finally {
      this.#isAtWork = false
      if (this.#isClosed) await this.#end()
    }
  }

  async close (): Promise<void> {
    this.#isClosed = true
    if (!this.#isAtWork) await this.#end()
  }

  async #removeUntil (until: number): Promise<void> {
    while (!this.#isClosed && performance.now() < until) {
      const list = this.#list ??= this.#begin()
      if (list === undefined) return
      const next = await list.entries.next()
      if (next.done === true) {
        await this.#end()
        if (!list.hasMore) return
        continue
      }
      if (this.#backoff.isWaiting(next.value.name)) continue
      const sliceEnd = Math.min(until, performance.now() + sliceMs)
      if (!await this.#remove(list.directory, next.value, () => this.#isClosed || performance.now() >= sliceEnd)) list.hasMore = true
    }
  }

  #begin (): TrashList | undefined {
    try {
      const directory = openTopDirectory(this.#path)
      return { directory, entries: readEntries(directory, bufferSize), hasMore: false }
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      return undefined
    }
  }

  async #end (): Promise<void> {
    const list = this.#list
    this.#list = undefined
    await list?.entries.return(undefined).catch(() => {})
    list?.directory.handle.close()
  }

  /** False where its time was over before. */
  async #remove (trash: Directory, { name, dirent }: DirectoryEntry, isOver: () => boolean): Promise<boolean> {
    const { error, ended, removed } = dirent.isDirectory()
      ? await removeTree(trash, name, { givesRights: true, isOver })
      : await removeFile(entryPath(trash, name))
    // While something goes, the rest isn't waited for.
    if (error !== undefined && ended && removed > 0) return false
    if (error !== undefined) this.#onFault({ path: join(this.#path, name), error, failures: this.#backoff.failed(name) })
    else if (!ended) this.#backoff.forget(name)
    return error !== undefined || !ended
  }
}

async function removeFile (path: PathLike): Promise<Removal> {
  const error = await unlink(path).then(() => undefined, asError)
  return { removed: 0, ended: false, error: errorCode(error) === 'ENOENT' ? undefined : error }
}
