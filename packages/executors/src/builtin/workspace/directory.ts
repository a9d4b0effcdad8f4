import { constants, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { Descriptor } from './descriptor.ts'

/** An open directory of the workspace. What is in it is reached through it, not by its path, which others can change. */
export interface Directory {
  readonly handle: Descriptor
  /** The path that led here: for messages, and where the kernel has no better way. */
  readonly absolute: string
}

/** Linux's O_PATH, which Node doesn't name: a place in the tree, without the right to read it. */
const placeOnly = process.platform === 'linux' ? 0o10000000 : constants.O_RDONLY

/** Opens the workspace itself, whatever links lead to it: its path is the operator's. The caller closes the handle. */
export function openWorkspace (path: string): Directory {
  if (process.platform !== 'linux') {
    const absolute = realpathSync.native(path)
    return { handle: new Descriptor(absolute, placeOnly | constants.O_DIRECTORY), absolute }
  }
  const handle = new Descriptor(path, placeOnly | constants.O_DIRECTORY)
  try {
    return { handle, absolute: readlinkSync(`/proc/self/fd/${handle.fd}`) }
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Opens a directory in another one, never through a link: that is ENOTDIR or ELOOP. The caller closes the handle. */
export function openDirectory (parent: Directory, name: string): Directory {
  const handle = new Descriptor(entryPath(parent, name), placeOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  return { handle, absolute: join(parent.absolute, name) }
}

/**
 * A path of an entry that starts at the open directory, for use while that is open. Node has no `openat`; on Linux the
 * descriptor's own path does the same, and no link that is put in place of a parent changes where it leads. Elsewhere
 * it is the plain path.
 *
 * @param name one name, or `.` for the directory itself
 */
export function entryPath ({ handle, absolute }: Directory, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(absolute, name)
}
