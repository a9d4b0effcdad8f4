import { openWorkspace, type Workspace } from './directory.ts'
import { ServiceFiles } from '../service/service-files.ts'

/** Where the workspace is, and what of the service no tool touches there. */
export interface WorkspaceSetting {
  path: string
  /** Absolute paths, whether something is there or not. */
  serviceFiles: readonly string[]
  /** What may be read there, and not be changed: absolute paths as well. */
  declarations?: readonly string[]
}

/** The same for those who may change files. */
export function changeable ({ path, serviceFiles, declarations = [] }: WorkspaceSetting): WorkspaceSetting {
  return { path, serviceFiles: [...serviceFiles, ...declarations] }
}

/**
 * The open workspace, for all calls that begin in one turn of the event loop: opening
 * and closing it are a third of the system calls of a short one.
 */
export class WorkspaceRoot {
  readonly directory: Workspace
  #users = 0
  #isCurrent = true

  private constructor (directory: Workspace) {
    this.directory = directory
  }

  static readonly #current = new Map<string, WorkspaceRoot>()

  /** Opens the workspace, unless it was opened in this turn; who holds it releases it, once. */
  static hold ({ path, serviceFiles }: WorkspaceSetting): WorkspaceRoot {
    const key = [path, ...serviceFiles].join('\0')
    let root = this.#current.get(key)
    if (root === undefined) {
      const opened = new WorkspaceRoot(openWorkspace(path, new ServiceFiles(serviceFiles)))
      this.#current.set(key, opened)
      setImmediate(() => {
        this.#current.delete(key)
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
