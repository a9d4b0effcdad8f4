import { ToolyardError } from './errors.ts'

/**
 * One name in the path of an address. `.`, `..` and nothing at all would lead to another route, such as from a session to the
 * shared workspace.
 *
 * @throws ToolyardError `VALIDATION_ERROR`
 */
export function pathSegment (name: string): string {
  if (name === '' || name === '.' || name === '..') throw new ToolyardError('VALIDATION_ERROR', `An address has no name '${name}': give the name or the id itself`)
  try {
    return encodeURIComponent(name)
  } catch {
    throw new ToolyardError('VALIDATION_ERROR', `A name in an address is valid Unicode: ${JSON.stringify(name).slice(0, 80)}`)
  }
}
