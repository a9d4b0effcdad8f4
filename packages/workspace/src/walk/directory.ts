import { constants, readlinkSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Descriptor } from './descriptor.ts'
import { nameOf } from './name-text.ts'
import type { ServiceFiles } from '../service/service-files.ts'

/** An open directory of the workspace. What is in it is reached through it, not by its path, which others can change. */
export interface Directory {
  readonly handle: Descriptor
  /** The path that led here: for messages, and where the kernel has no better way. */
  readonly absolute: string
}

export interface Workspace extends Directory {
  /** The absolute paths that mean it: the one without links, and those that it is known by. */
  readonly paths: readonly string[]
  /** No tool touches these in it. */
  readonly service: ServiceFiles
  /** The names directly in it that are the service's. @throws WorkspaceFailure when it is the service's itself. */
  taken: () => readonly string[]
}

/** Linux's O_PATH, which Node doesn't name: a place in the tree, without the right to read it. */
const placeOnly = process.platform === 'linux' ? 0o10000000 : constants.O_RDONLY

/**
 * Opens the workspace itself, whatever links lead to it: its path is the operator's. The caller closes the handle.
 *
 * @param known further paths that it is known by
 */
export function openWorkspace (path: string, service: ServiceFiles, known: readonly string[] = [resolve(path)]): Workspace {
  if (process.platform !== 'linux') {
    const absolute = realpathSync.native(path)
    return opened(new Descriptor(absolute, placeOnly | constants.O_DIRECTORY), absolute, known, service)
  }
  const handle = new Descriptor(path, placeOnly | constants.O_DIRECTORY)
  try {
    const absolute = readlinkSync(`/proc/self/fd/${handle.fd}`)
    return opened(handle, absolute, known, service)
  } catch (error) {
    handle.close()
    throw error
  }
}

function opened (handle: Descriptor, absolute: string, known: readonly string[], service: ServiceFiles): Workspace {
  let taken: readonly string[] | undefined
  const takenOnce = (): readonly string[] => {
    // The calls of one turn ask once.
    taken ??= service.namesIn(handle.fd)
    return taken
  }
  return { handle, absolute, paths: [absolute, ...known], service, taken: takenOnce }
}

/** Opens a directory by a path that no tool can change, but for its last name: that is no link. The caller closes the handle. */
export function openTopDirectory (path: string): Directory {
  return { handle: new Descriptor(path, placeOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW), absolute: path }
}

/** Opens a directory in another one, never through a link: that is ENOTDIR or ELOOP. The caller closes the handle. */
export function openDirectory (parent: Directory, name: string): Directory {
  const handle = new Descriptor(entryPath(parent, name), placeOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  return { handle, absolute: join(parent.absolute, nameOf(name).toString()) }
}

/** Opens an entry as a place, without reading it; a link itself. The caller closes it. */
export function openEntry (parent: Directory, name: string): Descriptor {
  return new Descriptor(entryPath(parent, name), placeOnly | constants.O_NOFOLLOW | constants.O_NONBLOCK)
}

/**
 * A path of an entry that starts at the open directory, for use while that is open. Node has no `openat`; on Linux the
 * descriptor's own path does the same, and no link that is put in place of a parent changes where it leads. Elsewhere
 * it is the plain path.
 *
 * @param text of one name, as `nameText` gives it; `.` for the directory itself
 */
export function entryPath ({ handle, absolute }: Pick<Directory, 'absolute'> & { handle: Pick<Descriptor, 'fd'> }, text: string): string | Buffer {
  const name = nameOf(text)
  const parent = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : absolute
  return typeof name === 'string' ? `${parent}/${name}` : Buffer.concat([Buffer.from(`${parent}/`), name])
}

/** A path of the open directory itself for another process of the same user. */
export function foreignPath ({ handle, absolute }: Directory): string {
  return process.platform === 'linux' ? `/proc/${process.pid}/fd/${handle.fd}` : absolute
}
