import { isAbsolute } from 'node:path'

/**
 * Whether `command` is on the allowlist as it is written (RC41): an entry with a slash is one exact path, any other is a
 * name, to be found on the PATH. So a program that a tool wrote into the workspace never passes as `node`.
 */
export function isAllowed (allowlist: readonly string[], command: string): boolean {
  return allowlist.includes(command) && (!command.includes('/') || isAbsolute(command))
}
