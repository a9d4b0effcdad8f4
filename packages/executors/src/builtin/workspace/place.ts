import type { Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { BuiltinFailure, type WorkspaceSetting } from '../kit/handler.ts'
import { entryPath, openDirectory, type Directory, type Workspace } from './directory.ts'
import { WorkspaceRoot } from './root.ts'
import { escape, walkWay, type Walked } from './walk-way.ts'
import { takeTurn } from './turn.ts'
import { wayInto } from './way.ts'

/** Where a path of a caller leads: a name in an open directory of the workspace. */
export interface Place {
  root: Workspace
  directory: Directory
  /** `.` for the directory itself. */
  name: string
  /** From the workspace, with `/` and without links; `.` for the workspace itself. */
  relative: string
  /** Undefined when nothing is there. */
  stats: Stats | undefined
}

/** UTF-16 units of a path; the kernel takes 4,096 bytes of one, and links of the workspace can make it shorter. */
const maxChars = 65_536

/** How a path is looked up. */
export interface PlaceOptions {
  /** What the caller is told when the path leads nowhere. */
  notFound: string
  /** Whether nothing may be there yet: the directory must exist all the same. */
  mayBeMissing?: boolean
  /** Whether a link at the end of the path is meant itself. */
  keepLink?: boolean
  /** Whether missing directories on the way are made; else `missingParent` is told. */
  makeParents?: boolean
  /** What the caller is told when a directory on the way is missing; else `notFound`. */
  missingParent?: string
}

/**
 * Looks up a path as a caller wrote it, relative to the workspace or absolute inside it, and hands the place to `use`, at
 * whose end it is closed (B29). Every directory on the way is opened through the one above and never by a link:
 * docs/decisions/0055-path-walk.md. A path to something that must exist may also start with `workspace/` (RC36).
 *
 * @throws BuiltinFailure `path escapes workspace root` for a path or a link that leaves the workspace, NOT_ALLOWED for one
 *   that leads to a file of the service, or `notFound`.
 */
export async function atPlace<T> (workspace: WorkspaceSetting, path: string, options: PlaceOptions, use: (place: Place) => Promise<T>): Promise<T> {
  await takeTurn()
  const held = WorkspaceRoot.hold(workspace)
  const root = held.directory
  const opened = new Set<Directory>()
  try {
    if (path.length > maxChars) throw new BuiltinFailure(options.notFound)
    const way = wayInto(root.paths, path)
    if (way === undefined) throw escape()
    // No name has one; the walk itself would notice only where it looks.
    if (path.includes('\0')) throw new BuiltinFailure(options.mayBeMissing === true ? 'a path holds no NUL character' : options.notFound)
    const walk = (names: readonly string[]): Walked => walkWay(root, names, { keepLink: options.keepLink ?? false, notFound: options.notFound, opened })
    let walked = walk(way)
    if (walked.missing.length > 0 && options.mayBeMissing !== true) {
      if (way[0] !== 'workspace' || way.length < 2) throw new BuiltinFailure(options.notFound)
      walked = walk(way.slice(1))
      if (walked.missing.length > 0) throw new BuiltinFailure(options.notFound)
    }
    return await use({ root, ...await placeOf(walked, options, opened) })
  } finally {
    for (const directory of opened) directory.handle.close()
    held.release()
  }
}

/** The same place with what is there now. */
export async function lookAgain (place: Place): Promise<Place> {
  try {
    return { ...place, stats: await lstat(entryPath(place.directory, place.name)) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ...place, stats: undefined }
    throw error
  }
}

async function placeOf ({ directory, names, missing, stats }: Walked, options: PlaceOptions, opened: Set<Directory>): Promise<Omit<Place, 'root'>> {
  const all = [...names, ...missing]
  const relative = all.join('/') || '.'
  if (missing.length > 1 && options.makeParents !== true) throw new BuiltinFailure(options.missingParent ?? options.notFound)
  let parent = directory
  for (const name of missing.slice(0, -1)) parent = await makeDirectory(parent, name, opened)
  return { directory: parent, name: missing.at(-1) ?? (stats.here ? '.' : all.at(-1) ?? '.'), relative, stats: stats.of }
}

async function makeDirectory (parent: Directory, name: string, opened: Set<Directory>): Promise<Directory> {
  await mkdir(entryPath(parent, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  const directory = openDirectory(parent, name)
  opened.add(directory)
  return directory
}
