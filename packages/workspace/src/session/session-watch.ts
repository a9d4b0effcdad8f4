import { watch, type FSWatcher } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { entryPath, type Directory } from '../walk/directory.ts'

/*
 * States: growing (a survey adds the directories that it reads) -> quiet -> ended (something was changed, or the watch was
 * given up). It ends with the first change: what a tool writes then costs this process nothing.
 */

/** Directories of one watch; a larger session is not watched. */
const mostDirectories = 500

/**
 * Knows whether anything was changed in a tree since it was walked, without reading it again. What is written through mapped
 * memory it doesn't see.
 */
export class SessionWatch {
  readonly #watchers: FSWatcher[] = []
  #ended = false

  /** To be called before the directory is read, so that no change is between the two. */
  add (directory: Directory): void {
    if (this.#ended) return
    if (this.#watchers.length >= mostDirectories) {
      this.end()
      return
    }
    try {
      const watcher = watch(entryPath(directory, '.'), { persistent: false }, () => { this.end() })
      watcher.on('error', () => { this.end() })
      this.#watchers.push(watcher)
    } catch {
      // The kernel has no more of them.
      this.end()
    }
  }

  get size (): number {
    return this.#watchers.length
  }

  get isQuiet (): boolean {
    return !this.#ended
  }

  /** Whether nothing was changed until now. The kernel has told of all that came before; two turns of the event loop read it. */
  async staysQuiet (): Promise<boolean> {
    for (let turns = 0; turns < 2 && !this.#ended; turns++) await turn()
    return !this.#ended
  }

  end (): void {
    this.#ended = true
    for (const watcher of this.#watchers.splice(0)) watcher.close()
  }
}
