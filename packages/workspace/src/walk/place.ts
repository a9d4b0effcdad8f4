import type { Stats } from 'node:fs'
import { lstat, mkdir, rmdir } from 'node:fs/promises'
import { errorCode } from '@toolyard/contract/terms'
import { storageFailure, WorkspaceFailure } from '../failure/failure.ts'
import { entryPath, openDirectory, type Directory, type Workspace } from './directory.ts'
import { WorkspaceRoot, type WorkspaceSetting } from './root.ts'
import { escape, walkWay, type Walked } from './walk-way.ts'
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

/** To ask for the signal may make it, which costs more than a short walk: long ones alone look at it. */
export interface PathContext {
  workspace: WorkspaceSetting
  /** Aborted when the caller no longer waits. */
  signal: AbortSignal
}

export interface PlaceOptions {
  /** For a path that leads nowhere. */
  notFound: string
  /** Whether nothing may be there yet: the directory must exist all the same. */
  mayBeMissing?: boolean
  /** Whether a link at the end of the path is meant itself. */
  keepLink?: boolean
  /** Whether missing directories on the way are made; else `missingParent` is told. */
  makeParents?: boolean
  /** For a directory on the way that is missing; else `notFound`. */
  missingParent?: string
}

/** How far a path of a caller leads. */
export interface NearPlace {
  root: Workspace
  /** The last directory on the way that is there. */
  directory: Directory
  /** The names that lead on from it to what isn't there; empty when all of it is. */
  missing: readonly string[]
  /** Within the directory, when nothing is missing; `.` for the directory itself. */
  name: string
  relative: string
  stats: Stats | undefined
}

/**
 * Looks up a path as a caller wrote it, relative to the workspace or absolute inside it, and hands the place to `use`, at
 * whose end it is closed. Every directory on the way is opened through the one above and never by a link:
 * docs/decisions/0055-path-walk.md. A path to something that must exist may also start with `workspace/`.
 *
 * @throws WorkspaceFailure `path escapes workspace root` for a path or a link that leaves the workspace, NOT_ALLOWED for one
 *   that leads to a file of the service, or `notFound`.
 */
export async function atPlace<T> (
  context: PathContext, path: string, options: PlaceOptions, use: (place: Place) => Promise<T>
): Promise<T> {
  return await atNearPlace(context, path, options, async near => await belowNearPlace(near, context, use))
}

/** The same, without making what is missing on the way. */
export async function atNearPlace<T> (
  context: PathContext, path: string, options: PlaceOptions, use: (place: NearPlace) => Promise<T>
): Promise<T> {
  await takeTurn()
  const held = WorkspaceRoot.hold(context.workspace)
  const root = held.directory
  let nearest: Directory = root
  try {
    const { directory, names, missing, stats } = await inTurns(findWay(root, path, options), context)
    nearest = directory
    const all = [...names, ...missing]
    return await use({ root, directory, missing, name: stats.here ? '.' : all.at(-1) ?? '.', relative: all.join('/') || '.', stats: stats.of })
  } finally {
    if (nearest !== root) nearest.handle.close()
    held.release()
  }
}

/** Makes the directories that are missing on the way to a place, and hands it to `use`. Where the file system has no room, none stays. */
export async function belowNearPlace<T> (near: NearPlace, call: Pick<PathContext, 'signal'>, use: (place: Place) => Promise<T>): Promise<T> {
  const { root, missing, relative, stats } = near
  let last = near.directory
  let made: string[] = []
  try {
    for (const name of missing.slice(0, -1)) {
      call.signal.throwIfAborted()
      const parent = last
      const isNew = await makeDirectory(parent, name)
      last = openDirectory(parent, name)
      if (parent !== near.directory) parent.handle.close()
      made = isNew ? [...made, name] : []
    }
    return await use({ root, directory: last, name: missing.at(-1) ?? near.name, relative, stats })
  } catch (error) {
    if (storageFailure(error) !== undefined) last = await removeMade(last, made)
    throw error
  } finally {
    if (last !== near.directory) last.handle.close()
  }
}

/** Walks a path as a caller wrote it; see `atPlace` and `walkWay`. */
export function * findWay (root: Workspace, path: string, options: PlaceOptions): Generator<void, Walked> {
  const { notFound, keepLink = false, mayBeMissing = false, makeParents = false, missingParent = notFound } = options
  if (path.length > maxChars) throw new WorkspaceFailure(notFound)
  const way = wayInto(root.paths, path)
  if (way === undefined) throw escape()
  // No name has one; the walk itself would notice only where it looks.
  if (path.includes('\0')) throw new WorkspaceFailure(mayBeMissing ? 'a path holds no NUL character' : notFound)
  const ways = !mayBeMissing && way[0] === 'workspace' && way.length > 1 ? [way, way.slice(1)] : [way]
  for (const each of ways) {
    const walked = yield * walkWay(root, each, { keepLink, notFound })
    if (walked.missing.length === 0 || (mayBeMissing && (walked.missing.length === 1 || makeParents))) return walked
    if (walked.directory !== root) walked.directory.handle.close()
  }
  throw new WorkspaceFailure(mayBeMissing ? missingParent : notFound)
}

/** Lets the event loop turn where a walk says so, and ends it with the call. */
async function inTurns (walk: Generator<void, Walked>, context: PathContext): Promise<Walked> {
  try {
    for (;;) {
      const { done, value } = walk.next()
      if (done === true) return value
      await takeTurn()
      context.signal.throwIfAborted()
    }
  } catch (error) {
    // It closes what is open, and throws the same.
    walk.throw(error)
    throw error
  }
}

/** The same place with what is there now. */
export async function lookAgain (place: Place): Promise<Place> {
  try {
    return { ...place, stats: await lstat(entryPath(place.directory, place.name)) }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { ...place, stats: undefined }
    throw error
  }
}

async function makeDirectory (parent: Directory, name: string): Promise<boolean> {
  return await mkdir(entryPath(parent, name)).then(() => true, (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    return false
  })
}

/** Removes directories that were just made, the last one first, up to one that others have put something in. The one that is left. */
async function removeMade (last: Directory, made: readonly string[]): Promise<Directory> {
  let left = last
  try {
    for (const name of made.toReversed()) {
      const parent = openDirectory(left, '..')
      left.handle.close()
      left = parent
      await rmdir(entryPath(parent, name))
    }
  } catch {
    // The error that it is for says more.
  }
  return left
}

/** Short calls that are run in one turn of the event loop. */
const most = 4

let taken = 0
let waiting: Array<() => void> = []

/**
 * Lets the event loop turn where a few short calls were run since it last did. They wait for nothing while they run, so
 * that any number of them in a row would keep it from everything else; but what several do in one turn, such as asking
 * Redis for something, goes out together.
 */
async function takeTurn (): Promise<void> {
  if (taken === 0) setImmediate(begin)
  taken += 1
  if (taken > most) await new Promise<void>(resolve => { waiting.push(resolve) })
}

function begin (): void {
  const now = waiting.slice(0, most)
  waiting = waiting.slice(most)
  taken = now.length + waiting.length
  if (taken > 0) setImmediate(begin)
  for (const resolve of now) resolve()
}
