import { ToolyardError } from './errors.ts'

/**
 * One name in the path of an address. `.`, `..` and nothing at all would lead to another route, such as from a session to the
 * shared workspace.
 *
 * @throws ToolyardError `VALIDATION_ERROR`; TypeError for what is no text.
 */
export function pathSegment (name: string): string {
  requireText(name, 'A name or an id in an address')
  if (name === '' || name === '.' || name === '..') throw new ToolyardError('VALIDATION_ERROR', `An address has no name '${name}': give the name or the id itself`)
  try {
    return encodeURIComponent(name)
  } catch {
    throw new ToolyardError('VALIDATION_ERROR', `A name in an address is valid Unicode: ${JSON.stringify(name).slice(0, 80)}`)
  }
}

/** Programs in JavaScript have no types. */
export function requireText (value: unknown, what: string): void {
  if (typeof value !== 'string') throw new TypeError(`${what} is a string, not ${value === null ? 'null' : typeof value}`)
}
