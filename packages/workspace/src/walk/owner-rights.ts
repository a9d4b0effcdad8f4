import { chmodSync } from 'node:fs'
import { errorCode } from '@toolyard/contract/terms'
import { foreignPath, openTopDirectory, type Directory } from './directory.ts'

const all = 0o700

/**
 * Gives its owner every right to an open directory: a tool may have taken them from its own user, who then could neither count
 * nor remove what is in it.
 *
 * @returns false when it belongs to somebody else
 */
export function giveOwnerRights (directory: Directory): boolean {
  const { mode } = directory.handle.stat()
  if ((mode & all) === all) return true
  try {
    chmodSync(foreignPath(directory), (mode & 0o7777) | all)
    return true
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error
    return false
  }
}

/** The same by a path, whose last name may be a link by now: that is ELOOP or ENOTDIR. */
export function giveOwnerRightsAt (path: string): void {
  const directory = openTopDirectory(path)
  try {
    giveOwnerRights(directory)
  } finally {
    directory.handle.close()
  }
}
