import { posix } from 'node:path'

/** A module that can't be imported; the message is what Python would say, or near it. */
export class ModuleFault extends Error {
  override readonly name = 'ModuleFault'
  /** Absolute paths of the sources that would have been the module. */
  readonly missing: readonly string[]

  constructor (message: string, missing: readonly string[] = []) {
    super(message)
    this.missing = missing
  }
}

/**
 * The dotted name that Python imports: read as a path, without `.py` at the end, slashes as dots, without one
 * dot in front. `mods/two.py`, `./mods/two.py` and `.mods.two` are all `mods.two`.
 *
 * @throws ModuleFault for what can't be below a Python root, such as `../x`.
 */
export function moduleName (module: string): string {
  const name = posix.normalize(module.trim()).replace(/\.py$/, '').replaceAll('/', '.').replace(/^\./, '')
  const parts = name.split('.')
  if (parts.some(part => part === '' || part.includes('\0') || part.includes('\\'))) {
    throw new ModuleFault(`${JSON.stringify(module)} is no module below a Python root`)
  }
  return name
}
