import { openWorkspace, type Workspace } from './directory.ts'

/** The open workspace, for all calls that begin in one turn of the event loop: opening and closing it are a third of the system calls of a short one. */
export class WorkspaceRoot {
  readonly directory: Workspace
  #users = 0
  #isCurrent = true

  private constructor (directory: Workspace) {
    this.directory = directory
  }

  static readonly #current = new Map<string, WorkspaceRoot>()

  /** Opens the workspace, unless it was opened in this turn; who holds it releases it, once. */
  static hold (path: string): WorkspaceRoot {
    let root = this.#current.get(path)
    if (root === undefined) {
      const opened = new WorkspaceRoot(openWorkspace(path))
      this.#current.set(path, opened)
      setImmediate(() => {
        this.#current.delete(path)
        opened.#isCurrent = false
        opened.#closeUnused()
      })
      root = opened
    }
    root.#users++
    return root
  }

  release (): void {
    this.#users--
    this.#closeUnused()
  }

  #closeUnused (): void {
    if (this.#users === 0 && !this.#isCurrent) this.directory.handle.close()
  }
}
