import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { findOnPath } from '@toolyard/sandbox'

/**
 * The absolute path of a skill's program; undefined when there is none.
 *
 * A bare name is looked up on `path`. A name with a slash is an absolute path, or
 * one below the skill's directory that no link leads out of.
 */
export async function findProgram (name: string, directory: string, path: string | undefined): Promise<string | undefined> {
  if (isAbsolute(name)) return name
  if (name.includes('/')) return await containedFile(directory, '', name)
  return findOnPath(name, path)
}

/**
 * The absolute path of a script of a skill: the exact name in `scripts/`, else the name with `.sh` appended.
 * Undefined when there is neither, or when the name is a path or leads out of `scripts/`.
 */
export async function findScript (directory: string, name: string): Promise<string | undefined> {
  if (name.includes('..') || /[/\\]/.test(name)) return undefined
  return await containedFile(directory, 'scripts', name) ?? await containedFile(directory, 'scripts', `${name}.sh`)
}

/**
 * The absolute path of a regular file below `<directory>/<room>`; undefined when there is none, or when `..` or a
 * symbolic link leads out of there. The room itself may not be a link either.
 */
async function containedFile (directory: string, room: string, name: string): Promise<string | undefined> {
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
