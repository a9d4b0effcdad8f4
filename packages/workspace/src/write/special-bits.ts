import { chmodSync } from 'node:fs'
import { errorCode } from '@toolyard/contract/terms'
import { WorkspaceFailure } from '../failure/failure.ts'
import { entryPath, openEntry } from '../walk/directory.ts'
import type { Place } from '../walk/place.ts'

/** Setuid, setgid and sticky. A file with one of the first two gives its owner's rights to whoever runs it. */
const specialBits = 0o7000

export function hasSpecialBits (standing: { mode: number } | undefined): boolean {
  return standing !== undefined && (standing.mode & specialBits) !== 0
}

export function plainMode (mode: number): number {
  return mode & 0o777
}

/**
 * Takes these bits from a regular file. On a directory they mean something else: the group of what is made in it.
 *
 * @throws WorkspaceFailure when the file belongs to somebody else.
 */
export function removeSpecialBits ({ directory, name, stats }: Place): void {
  if (stats?.isFile() !== true || !hasSpecialBits(stats)) return
  const file = openEntry(directory, name)
  try {
    const opened = file.stat()
    if (opened.isFile()) chmodSync(process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : entryPath(directory, name), plainMode(opened.mode))
  } catch (error) {
    if (errorCode(error) === 'EPERM') throw new WorkspaceFailure('the file has a setuid or setgid bit, which only its owner can remove')
    throw error
  } finally {
    file.close()
  }
}
