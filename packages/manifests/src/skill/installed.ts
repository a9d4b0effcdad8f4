import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, resolve } from 'node:path'

/** Whether a program can be run from here: by its name on `path`, or by its path, seen from the skill's directory (SC22). */
export async function isInstalled (program: string, directory: string, path: string): Promise<boolean> {
  const places = program.includes('/') ? [directory] : path.split(delimiter).filter(isAbsolute)
  for (const place of places) if (await isExecutable(resolve(place, program))) return true
  return false
}

async function isExecutable (file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
