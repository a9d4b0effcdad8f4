import { createHash, randomBytes } from 'node:crypto'

/** Names of the short-lived entries that writing needs beside a file. No tool shows them (B36). */
const ownName = /^\.toolyard-[0-9a-f]{32}\.(?:lock|tmp)$/

/** Whether an entry is the service's own. */
export function isOwnName (name: string): boolean {
  return ownName.test(name)
}

/** The name of the lock of an entry in the same directory: one for each name, however long that is. */
export function lockName (name: string): string {
  return `.toolyard-${createHash('sha256').update(name).digest('hex').slice(0, 32)}.lock`
}

/** A new name for a file in the making. */
export function temporaryName (): string {
  return `.toolyard-${randomBytes(16).toString('hex')}.tmp`
}
