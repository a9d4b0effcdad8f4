import { firstChars } from '@toolyard/contract/terms'
import { WorkspaceFailure } from '../failure/failure.ts'
import { nameOf } from '../walk/name-text.ts'

/** Bytes that a name may have on the usual file systems. */
const maxNameBytes = 255
// eslint-disable-next-line no-control-regex -- These are what is looked for.
const control = /[\0-\x1f\x7f]/
const half = /[\ud800-\udfff]/u

/** Checks the names of a path that a caller wants to make something at. @throws WorkspaceFailure that says which name is wrong, and why. */
export function checkNewNames (names: readonly string[]): void {
  checkTexts(names)
  checkEntryNames(names)
}

/** The same for names that come as bytes, such as those of archives: they may be no UTF-8. */
export function checkEntryNames (names: readonly string[]): void {
  for (const name of names) {
    const fault = newNameFault(name)
    if (fault !== undefined) throw failure(name, fault)
  }
}

/**
 * Checks that the names of a path that comes as text are UTF-8: whoever sees one that isn't may name it, but makes none.
 *
 * @throws WorkspaceFailure
 */
export function checkTexts (names: readonly string[]): void {
  const bytes = names.find(name => typeof nameOf(name) !== 'string')
  if (bytes !== undefined) throw failure(bytes, 'is not valid Unicode')
}

function failure (name: string, fault: string): WorkspaceFailure {
  return new WorkspaceFailure(`the name ${shown(name)} ${fault}`)
}

/** Undefined for a good name of a new entry. */
export function newNameFault (name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name === '.' || name === '..') return 'is not allowed in a path'
  if (name.includes('/')) return 'has a slash'
  if (control.test(name)) return 'has a control character'
  if (half.test(name) || name.includes('\ufffd')) return 'is not valid Unicode'
  if (Buffer.byteLength(nameOf(name)) > maxNameBytes) return `has more than ${maxNameBytes} bytes`
  return undefined
}

/** A name as a message can have it. */
export function shown (name: string): string {
  const text = JSON.stringify(name)
  return text.length > 122 ? `${firstChars(text, 120)}..."` : text
}
