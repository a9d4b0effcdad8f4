import { lstatSync } from 'node:fs'
import { sep } from 'node:path'

/** Whether an absolute, normal path is `directory` or lies below it. */
export function isWithin (path: string, directory: string): boolean {
  return path === directory || directory === '/' || path.startsWith(directory + sep)
}

/** A link at the path isn't followed. */
export function kindOf (path: string): 'file' | 'directory' | 'link' | 'none' {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return 'none'
    if (found.isSymbolicLink()) return 'link'
    return found.isDirectory() ? 'directory' : 'file'
  } catch {
    return 'none'
  }
}
