import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, resolve } from 'node:path'

/** Whether a program can be run from here (SC22). */
export async function isInstalled (program: string, directory: string, path: string): Promise<boolean> {
  return await installedProgram(program, directory, path) !== undefined
}

/** Where a program is that can be run from here: by its name on `path`, or by its path, seen from the skill's directory. */
export async function installedProgram (program: string, directory: string, path: string): Promise<string | undefined> {
  const places = program.includes('/') ? [directory] : path.split(delimiter).filter(isAbsolute)
  for (const place of places) {
    const file = resolve(place, program)
    if (await isExecutable(file)) return file
  }
  return undefined
}

async function isExecutable (file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
