import { basename, dirname, isAbsolute, join, normalize } from 'node:path'
import { realPath } from '@toolyard/workspace'
import { isWithin } from './path.ts'
import { systemDirectories } from './system-mounts.ts'

/** Parts of an installation that its programs need beside `bin`, and the mark of a Python environment. */
const besideBin = ['lib', 'lib64', 'libexec', 'pyvenv.cfg'] as const

/**
 * Places for programs on the PATH, for directories outside the system: the directory itself; of an installation
 * (`X/bin`) its libraries; of a version manager (`X/shims`) all of X.
 *
 * @param barred directories that are not to be opened as a whole, nor what contains them
 */
export function searchPathDirectories (path: string, barred: readonly string[]): string[] {
  const directories = path.split(':').filter(directory => isAbsolute(directory)).map(directory => trimmed(normalize(directory)))
  const found = directories.flatMap(directory => basename(directory) === 'shims' ? [dirname(directory)] : installationOf(directory))
  return outermost(found.filter(place => isOpenable(place, barred)))
}

/** A directory of programs, with the libraries beside it when it is called `bin` or `sbin`. */
export function installationOf (directory: string): string[] {
  if (!['bin', 'sbin'].includes(basename(directory))) return [directory]
  const prefix = dirname(directory)
  return [directory, ...besideBin.map(name => join(prefix, name))]
}

/** Whether a place exists outside the system, and opening it opens none of the barred directories. */
export function isOpenable (place: string, barred: readonly string[]): boolean {
  if (systemDirectories.some(directory => isWithin(place, directory))) return false
  const real = realPath(place)
  return real !== undefined && !barred.some(directory => isWithin(directory, place) || isWithin(directory, real))
}

/** Without duplicates, and without what lies inside another. */
export function outermost (paths: readonly string[]): string[] {
  return [...new Set(paths)].filter(path => !paths.some(other => other !== path && isWithin(path, other)))
}

function trimmed (path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
