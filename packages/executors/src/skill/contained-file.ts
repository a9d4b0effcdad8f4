import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

/**
 * The absolute path of a regular file below `<directory>/<room>`; undefined when there is none, or when `..` or a
 * symbolic link leads out of there (B14, SC20). The room itself may not be a link either.
 */
export async function containedFile (directory: string, room: string, name: string): Promise<string | undefined> {
  try {
    const root = join(await realpath(directory), room)
    const real = await realpath(join(root, name))
    const contained = real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)
    return contained && (await stat(real)).isFile() ? join(directory, room, name) : undefined
  } catch {
    // Missing, unreadable, or a name that no file can have: all the same to who asks.
    return undefined
  }
}
