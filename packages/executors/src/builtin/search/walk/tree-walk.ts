import { closeSync, constants, openSync, readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { entryPath, isOwnName, isServiceName, nameText, refusal, type ServiceFiles } from '@toolyard/workspace'
import { innerScope, readIgnoreFile, type IgnoreScope } from './ignore-rules.ts'

/** A directory by its descriptor; `absolute` where descriptors have no paths. */
export interface OpenDirectory {
  fd: number
  absolute: string
  /** The names in it that are the service's. */
  taken: readonly string[]
}

interface TreeWalkOptions {
  /** From the workspace; `.` for the workspace itself. */
  base: string
  /** Not searched. */
  service: ServiceFiles
  includeHidden: boolean
  /** The rules above the base; `respectIgnore` false looks at none at all. */
  scope: IgnoreScope | undefined
  respectIgnore: boolean
  /** Entries up to this path are left out: another walk had them. */
  after: string | undefined
  /** Asked before each entry; true ends the walk. */
  isOver: () => boolean
}

export interface TreeEntry {
  /** From the workspace. */
  path: string
  name: string
  dirent: Dirent<Buffer>
  /** Where it is; open until the walk goes on. */
  directory: OpenDirectory
}

interface WalkPlace {
  scope: IgnoreScope | undefined
  depth: number
  after: readonly string[]
}

/** Levels below the base; each keeps a descriptor open. */
const maxDepth = 256

export function openPath ({ fd, absolute }: Pick<OpenDirectory, 'fd' | 'absolute'>, name: string): string | Buffer {
  return entryPath({ handle: { fd }, absolute }, name)
}

/** Opens a directory in another one, never through a link; the caller closes it. @throws BuiltinFailure for one of the service. */
export function openChild (parent: OpenDirectory, name: string, service: ServiceFiles): OpenDirectory {
  if (isServiceName(name, parent.taken)) throw refusal()
  const fd = openSync(openPath(parent, name), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    return { fd, absolute: join(parent.absolute, name), taken: service.namesIn(fd) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/**
 * Walks a directory from top to bottom, each directory sorted by name and before its contents; for a thread of its own,
 * since it waits for the disk. Links are entries, but never followed; directories that can't be read are left out.
 */
export class TreeWalk {
  scanned = 0
  /** Whether `isOver` ended it. */
  ended = false
  last: string | undefined
  readonly #options: TreeWalkOptions

  constructor (options: TreeWalkOptions) {
    this.#options = options
  }

  * entries (directory: OpenDirectory): Generator<TreeEntry> {
    const { base, scope, after } = this.#options
    const below = after === undefined ? [] : after.split('/').slice(base === '.' ? 0 : base.split('/').length)
    yield * this.#walk(directory, base === '.' ? '' : base, { scope, depth: 0, after: below })
  }

  * #walk (directory: OpenDirectory, path: string, place: WalkPlace): Generator<TreeEntry> {
    const scope = this.#options.respectIgnore ? this.#scopeOf(directory, path, place.scope) : undefined
    const [first, ...rest] = place.after
    for (const { name, dirent } of listed(directory)) {
      if (this.#isOver()) return
      this.scanned += 1
      if ((isOwnName(name) && !dirent.isDirectory()) || isServiceName(name, directory.taken) || (name.startsWith('.') && !this.#options.includeHidden) || (first !== undefined && name < first)) continue
      const entry = path === '' ? name : `${path}/${name}`
      this.last = entry
      if (scope?.ignores(entry, dirent.isDirectory()) === true) continue
      // The directories on the way to where the last page ended were on that page already, but perhaps not all that is below them.
      if (name !== first) yield { path: entry, name, dirent, directory }
      else if (rest.length === 0 && !dirent.isDirectory()) yield { path: entry, name, dirent, directory }
      if (dirent.isDirectory() && place.depth < maxDepth) {
        yield * this.#into(directory, entry, name, { scope, depth: place.depth + 1, after: name === first ? rest : [] })
      }
      if (this.ended) return
    }
  }

  * #into (parent: OpenDirectory, path: string, name: string, place: WalkPlace): Generator<TreeEntry> {
    let directory: OpenDirectory
    try {
      directory = openChild(parent, name, this.#options.service)
    } catch {
      return
    }
    try {
      yield * this.#walk(directory, path, place)
    } finally {
      closeSync(directory.fd)
    }
  }

  #scopeOf (directory: OpenDirectory, path: string, outer: IgnoreScope | undefined): IgnoreScope | undefined {
    const text = readIgnoreFile(openPath(directory, '.gitignore'))
    return innerScope(outer, text === undefined ? undefined : { directory: path, text })
  }

  #isOver (): boolean {
    this.ended ||= this.#options.isOver()
    return this.ended
  }
}

function listed (directory: OpenDirectory): Array<Pick<TreeEntry, 'name' | 'dirent'>> {
  try {
    const entries = readdirSync(openPath(directory, '.'), { withFileTypes: true, encoding: 'buffer' })
    return entries.map(dirent => ({ name: nameText(dirent.name), dirent })).sort((a, b) => a.name < b.name ? -1 : 1)
  } catch {
    return []
  }
}
