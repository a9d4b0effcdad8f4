import { printable } from '@toolyard/runtime'

/** Prints to stdout. All that this program prints goes through here: parts of it are the texts of others. */
export function print (text: string): void {
  console.log(printable(text))
}

export function complain (text: string): void {
  console.error(printable(text))
}

/** The names that may have been meant, as a sentence behind another one. */
export function meantText (names: readonly string[]): string {
  return names.length === 0 ? '' : ` Is ${names.join(' or ')} meant?`
}

/** A word of a command line that somebody may paste into a shell. */
export function shellWord (text: string): string {
  return /^[\w.,:=/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
