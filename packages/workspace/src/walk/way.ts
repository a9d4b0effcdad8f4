import { isAbsolute, relative, resolve, sep } from 'node:path'

/**
 * The names that lead from the workspace to `path`, which is relative to it, or absolute and begins with one of its
 * paths. Undefined when it leads outside. The file system isn't asked: where a way outside leads back inside, the answer
 * would tell what is there.
 */
export function wayInto (paths: readonly string[], path: string): string[] | undefined {
  for (const root of paths) {
    const way = wayInside(root, path)
    if (way !== undefined) return way
  }
  return undefined
}

/**
 * The names that lead from `root` to `path`, which is relative to it or absolute. Undefined when it leads outside; the
 * file system isn't asked. `..hidden` is a name like any other.
 */
function wayInside (root: string, path: string): string[] | undefined {
  const way = relative(root, resolve(root, path))
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined
  return way === '' ? [] : way.split(sep)
}
