import { fstatSync, lstatSync, type BigIntStats, type Dirent, type PathLike, type Stats } from 'node:fs'
import { findHidden, isHiddenName, linkedFilesBelow, type HiddenPlaces } from './hidden.ts'
import { WorkspaceFailure } from '../failure/failure.ts'

/**
 * The service's own files, as they are when this is made. Files and directories are told by device and inode, and
 * what isn't there yet by its name in an opened directory, so that it doesn't matter by which path somebody comes.
 */
export class ServiceFiles {
  /** Absolute, as they were given. */
  readonly paths: readonly string[]
  readonly #places: HiddenPlaces | undefined
  #linked: ReadonlySet<string> | undefined
  #rounded: ReadonlySet<string> | undefined

  constructor (paths: readonly string[]) {
    this.paths = paths
    this.#places = paths.length === 0 ? undefined : findHidden(paths)
  }

  /** The names in an open directory that are the service's. @throws WorkspaceFailure when the directory itself is. */
  namesIn (fd: number): readonly string[] {
    if (this.#places === undefined || !this.#mayBe(fstatSync(fd), this.#places)) return []
    const id = idOf(fstatSync(fd, { bigint: true }))
    if (this.#places.directories.has(id)) throw refusal()
    return this.#places.names.get(id) ?? []
  }

  /** Whether what a path leads to is the service's by another name; a link itself never is. */
  has (path: PathLike, entry: Pick<Dirent, 'isFile' | 'isDirectory'> | Stats): boolean {
    if (this.#places === undefined || (!entry.isFile() && !entry.isDirectory())) return false
    if ('ino' in entry && !this.#mayBe(entry, this.#places)) return false
    try {
      return this.#hasEntry(lstatSync(path, { bigint: true }))
    } catch {
      // It is gone by now; who opens it asks again.
      return false
    }
  }

  /** The same for an open file, whose state is known. */
  hasOpen (fd: number, stats: Stats): boolean {
    return this.#places !== undefined && this.#mayBe(stats, this.#places) && this.#hasEntry(fstatSync(fd, { bigint: true }))
  }

  /** Whether something of the service lies in a directory, or will. */
  isBelow (path: PathLike): boolean {
    return this.#places?.above.has(idOf(lstatSync(path, { bigint: true }))) === true
  }

  /** Whether it is worth a look at the exact inode: numbers are faster, but large ones are rounded. */
  #mayBe (stats: Stats, { names, files, directories }: HiddenPlaces): boolean {
    if (stats.nlink > 1 && stats.isFile()) return true
    this.#rounded ??= new Set([...names.keys(), ...files, ...directories.keys()].map(id => id.split(':').map(Number).join(':')))
    return this.#rounded.has(`${stats.dev}:${stats.ino}`)
  }

  #hasEntry (stats: BigIntStats): boolean {
    const id = idOf(stats)
    if (this.#places?.files.has(id) === true || this.#places?.directories.has(id) === true) return true
    if (stats.nlink < 2n || !stats.isFile()) return false
    this.#linked ??= new Set(linkedFilesBelow(this.#places?.directories.values() ?? []).keys())
    return this.#linked.has(id)
  }
}

/** Whether an entry is one of the names of `namesIn`. */
export function isServiceName (name: string, names: readonly string[]): boolean {
  return names.length > 0 && isHiddenName(name, names)
}

/** For a path that leads to a file of the service. */
export function refusal (): WorkspaceFailure {
  return new WorkspaceFailure('the path leads to a file of the service, which tools may not use', 'NOT_ALLOWED')
}

function idOf ({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
