import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

const writableByAll = 0o002
const writableByGroup = 0o020
const sticky = 0o1000

/** Looks who may replace programs; remembers the directories that it has looked at. */
export type TrustCheck = (file: string) => Promise<string | undefined>

/**
 * A check of who, beside its owner, could put something else in a program's place: the path of the file
 * itself, or of a directory on the way to it, that others may write to; undefined when there is none, or no file. A
 * directory like `/tmp`, in which only owners replace what is theirs, is no such place, and neither is what the user's
 * own group may write to.
 */
export function createTrustCheck (): TrustCheck {
  const directories = new Map<string, Promise<string | undefined>>()
  const faultOnWay = async (directory: string): Promise<string | undefined> => {
    const known = directories.get(directory) ?? ownFault(directory)
    directories.set(directory, known)
    return await known ?? (directory === dirname(directory) ? undefined : await faultOnWay(dirname(directory)))
  }
  return async file => {
    try {
      const real = await realpath(file)
      return await ownFault(real) ?? await faultOnWay(dirname(real))
    } catch {
      return undefined
    }
  }
}

async function ownFault (path: string): Promise<string | undefined> {
  const found = await stat(path)
  const othersMay = (found.mode & writableByAll) !== 0 || ((found.mode & writableByGroup) !== 0 && found.gid !== found.uid)
  const guarded = found.isDirectory() && (found.mode & sticky) !== 0
  return othersMay && !guarded ? path : undefined
}
