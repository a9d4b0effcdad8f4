import { isAbsolute, relative, resolve, sep } from 'node:path'

/**
 * The names that lead from `root` to `path`, which is relative to it or absolute. Undefined when it leads outside; the
 * file system isn't asked. `..hidden` is a name like any other (B29).
 */
export function wayInside (root: string, path: string): string[] | undefined {
  const way = relative(root, resolve(root, path))
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined
  return way === '' ? [] : way.split(sep)
}
