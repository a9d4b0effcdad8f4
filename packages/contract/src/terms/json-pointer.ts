/** A name as a part of a JSON pointer. */
export function pointerToken (name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The name that a part of a JSON pointer stands for. */
export function pointerName (token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}
