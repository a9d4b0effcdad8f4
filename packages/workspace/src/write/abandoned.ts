import { lstatSync, lutimesSync, unlinkSync, type PathLike } from 'node:fs'

/** An upload of which nothing comes for 30 s is given up: who makes a file that hasn't grown for so long is dead. */
const abandonedMs = 300_000

/**
 * Removes a file in the making whose process has died; false for one that may still be made. Its age is told by the clock of its
 * file system alone: other machines write here as well.
 */
export function removeAbandoned (path: PathLike): boolean {
  try {
    const stats = lstatSync(path)
    if (stats.isDirectory()) return false
    // Its times stay the same, and the file system notes when that was done.
    lutimesSync(path, stats.atimeMs / 1_000, stats.mtimeMs / 1_000)
    // A tool may have planted one of the future.
    if (Math.abs(lstatSync(path).ctimeMs - stats.mtimeMs) < abandonedMs) return false
    unlinkSync(path)
    return true
  } catch {
    // It has found its place by now, or is another user's.
    return false
  }
}
