import { isRecord } from '@toolyard/contract/terms'

/** Faults of a place that something should have been written to, and their remedies. */
const faults: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room there',
  EDQUOT: 'the quota of this user is used up: make room there',
  EROFS: 'the file system is read-only: use another directory'
}
/** Other calls that end so are about ports and programs, or about reading. */
const faultsOfMaking: Readonly<Record<string, string>> = {
  EACCES: 'this user may not: give it the right, or use another directory',
  // Node.js says so of a read-only file system too, when it makes the directories above as well.
  ENOENT: 'the file system is read-only, or the directory above is gone: use another directory'
}
const making: readonly string[] = ['mkdir', 'copyfile', 'rename']

/** The message of an error for the terminal. One of the file system without a path is about the working directory. */
export function messageFor (error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (!isRecord(error)) return message
  const { code, syscall, path, dest = path } = error
  if (typeof syscall !== 'string' || typeof code !== 'string') return message
  const fault = faults[code] ?? (making.includes(syscall) ? faultsOfMaking[code] : undefined)
  if (fault === undefined) return code === 'EACCES' && syscall === 'open' && typeof path === 'string' ? `${path} can't be opened (${code}): give this user the right` : message
  return `${typeof dest === 'string' ? dest : process.cwd()} can't be written (${code}): ${fault}`
}
