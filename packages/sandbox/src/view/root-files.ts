import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { orElse } from '@toolyard/contract/terms'

let found: readonly string[] | undefined

/**
 * Files of the kernel that a box of root must not read: those that are for root alone. Whoever reads such as `/proc/vmallocinfo` in
 * a loop holds up the whole machine, and they tell of its memory. What a container has covered already is not visible in a box either.
 */
export function filesOfRoot (): readonly string[] {
  found ??= process.getuid?.() === 0 ? readdirSync('/proc').map(name => join('/proc', name)).filter(isOfRoot) : []
  return found
}

function isOfRoot (path: string): boolean {
  const stats = orElse(() => lstatSync(path), undefined)
  if (stats === undefined || stats.isDirectory() || stats.isSymbolicLink()) return false
  return !stats.isFile() || (stats.mode & 0o004) === 0
}
