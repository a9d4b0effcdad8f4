import { randomBytes } from 'node:crypto'

/*
 * The one kind of entry that writing needs in the workspace. Its name can't be guessed, and it is made where nothing is:
 * so nothing that is planted there is ever opened, waited for or replaced.
 */
const ownName = /^\.toolyard-[0-9a-f]{32}\.tmp$/

/** Whether an entry is the service's own; no tool shows it. */
export function isOwnName (name: string): boolean {
  return ownName.test(name)
}

export function temporaryName (): string {
  return `.toolyard-${randomBytes(16).toString('hex')}.tmp`
}
