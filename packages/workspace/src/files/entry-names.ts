import { WorkspaceFailure } from '../failure/failure.ts'

/** Bytes that a name may have on the usual file systems. */
const maxNameBytes = 255
// eslint-disable-next-line no-control-regex -- These are what is looked for.
const control = /[\0-\x1f\x7f]/
const half = /[\ud800-\udfff]/u

/**
 * Checks the names of a path that a caller wants to make something at.
 *
 * @throws WorkspaceFailure that says which name is wrong, and why.
 */
export function checkNewNames (names: readonly string[]): void {
  for (const name of names) {
    const fault = newNameFault(name)
    if (fault !== undefined) throw new WorkspaceFailure(`the name ${shown(name)} ${fault}`)
  }
}

/** What is wrong with a name that a caller wants to make; undefined for a good one. */
export function newNameFault (name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name === '.' || name === '..') return 'is not allowed in a path'
  if (name.includes('/')) return 'has a slash'
  if (control.test(name)) return 'has a control character'
  if (half.test(name) || name.includes('\ufffd')) return 'is not valid Unicode'
  if (Buffer.byteLength(name) > maxNameBytes) return `has more than ${maxNameBytes} bytes`
  return undefined
}

/** A name as a message can have it. */
export function shown (name: string): string {
  const text = JSON.stringify(name)
  return text.length > 122 ? `${text.slice(0, 120)}..."` : text
}
