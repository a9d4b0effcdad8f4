import { closeSync } from 'node:fs'
import { isOwnName } from '../workspace/own-names.ts'
import { FileText } from './file-text.ts'
import { innerScope, readIgnoreFile, scopeAbove, type IgnoreScope } from './ignore-rules.ts'
import type { IgnoreRules, SearchTask } from './task.ts'
import { openChild, openPath, type OpenDirectory } from './tree-walk.ts'

/** Opens files by their path from the base as a walk would come to them: never by a link, and not what is ignored. */
export class GivenFiles {
  readonly #task: SearchTask
  readonly #outer: IgnoreScope | undefined
  readonly #respectIgnore: boolean
  /** By the path of the directory. */
  readonly #scopes = new Map<string, IgnoreScope | undefined>()

  /** @param ignoreAbove undefined to open ignored files too */
  constructor (task: SearchTask, ignoreAbove: readonly IgnoreRules[] | undefined) {
    this.#task = task
    this.#respectIgnore = ignoreAbove !== undefined
    this.#outer = scopeAbove(ignoreAbove, task.base)
  }

  /** Undefined for what can't be opened, or isn't to be. */
  open (file: string, buffer: Buffer): FileText | undefined {
    const opened: OpenDirectory[] = []
    const names = file.split('/')
    let directory: OpenDirectory = this.#task
    let path = this.#task.base === '.' ? '' : this.#task.base
    let scope = this.#outer
    try {
      for (const [index, name] of names.entries()) {
        scope = this.#scopeOf(directory, path, scope)
        path = path === '' ? name : `${path}/${name}`
        const last = index === names.length - 1
        if (isOwnName(name) || scope?.ignores(path, !last) === true) return undefined
        if (last) return FileText.open(openPath(directory, name), buffer)
        directory = openChild(directory, name)
        opened.push(directory)
      }
      return undefined
    } catch {
      return undefined
    } finally {
      for (const { fd } of opened) closeSync(fd)
    }
  }

  #scopeOf (directory: OpenDirectory, path: string, outer: IgnoreScope | undefined): IgnoreScope | undefined {
    if (!this.#respectIgnore) return undefined
    if (this.#scopes.has(path)) return this.#scopes.get(path)
    const text = readIgnoreFile(openPath(directory, '.gitignore'))
    const scope = innerScope(outer, text === undefined ? undefined : { directory: path, text })
    this.#scopes.set(path, scope)
    return scope
  }
}
