import { containedFile } from './contained-file.ts'

/**
 * The absolute path of a script of a skill: the exact name in `scripts/`, else the name with `.sh` appended (S27, B13).
 * Undefined when there is neither, or when the name is a path (S29) or leads out of `scripts/` (S34).
 */
export async function findScript (directory: string, name: string): Promise<string | undefined> {
  if (name.includes('..') || /[/\\]/.test(name)) return undefined
  return await containedFile(directory, 'scripts', name) ?? await containedFile(directory, 'scripts', `${name}.sh`)
}
