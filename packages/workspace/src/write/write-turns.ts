import { unlessAborted } from '@toolyard/runtime'
import { asError } from '@toolyard/contract/terms'
import { WorkspaceFailure } from '../failure/failure.ts'
import type { Directory } from '../walk/directory.ts'

/** Locks that all processes respect which write to a workspace; the worker gives them. */
export interface SharedLocks {
  /** Fulfilled when the lock of that name is held; rejects with the signal's reason when it aborts before. */
  take (name: string, signal: AbortSignal): Promise<SharedLock>
}

interface SharedLock {
  isHeld (): boolean
  release (): void
}

/** The text to write, and until when the writer waits for its turn. */
export interface Turn {
  directory: Directory
  name: string
  signal: AbortSignal
}

/**
 * Lets writers of one entry take turns: those of this process among themselves, and then with those of other processes
 * and machines by the shared locks. Nothing of a lock is in the workspace, since whatever is there can be planted.
 */
export class WriteTurns {
  readonly #shared: SharedLocks | undefined
  /** Each ends with the last writer that is in line. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor (shared: SharedLocks | undefined) {
    this.#shared = shared
  }

  /**
   * Runs `work` while no other writer has the turn. `work` calls `check` just before it changes the entry.
   *
   * @throws the signal's reason when it aborts before the turn has come; WorkspaceFailure when there is no lock to be had;
   * `check` throws WorkspaceFailure when the lock was lost.
   */
  async run<T> ({ directory, name, signal }: Turn, work: (check: () => void) => Promise<T>): Promise<T> {
    // The directory's inode is the same on all machines; its path, and its device, need not be.
    const key = `${directory.handle.stat().ino}/${name}`
    const before = this.#last.get(key)
    let end = (): void => {}
    // Also when this one gives up, the next one waits for those before.
    const ended = Promise.all([before, new Promise<void>(resolve => { end = resolve })])
    this.#last.set(key, ended)
    void ended.then(() => { if (this.#last.get(key) === ended) this.#last.delete(key) })
    try {
      if (before !== undefined) await unlessAborted(before, signal)
      return await this.#withShared(key, signal, work)
    } finally {
      end()
    }
  }

  async #withShared<T> (key: string, signal: AbortSignal, work: (check: () => void) => Promise<T>): Promise<T> {
    const lock = await this.#lock(key, signal)
    try {
      return await work(() => {
        if (lock?.isHeld() === false) throw new WorkspaceFailure('the lock on the file was lost, so nothing was changed; try again')
      })
    } finally {
      lock?.release()
    }
  }

  async #lock (key: string, signal: AbortSignal): Promise<SharedLock | undefined> {
    try {
      return await this.#shared?.take(key, signal)
    } catch (error) {
      if (signal.aborted) throw error
      throw new WorkspaceFailure(`the file could not be locked: ${asError(error).message}`, 'INTERNAL')
    }
  }
}
