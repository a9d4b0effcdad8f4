import { posix } from 'node:path'

/**
 * The dotted name by which Python imports a manifest's `module`: written as a path or as a name, with or without
 * `.py` at its end and one dot at its start. A name that still starts with a dot leads out of the root, and doesn't import.
 */
export function moduleName (module: string): string {
  const path = posix.normalize(module.trim().replaceAll('\\', '/')).replace(/\.py$/, '')
  return path.replaceAll('/', '.').replace(/^\./, '')
}
