import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, resolve } from 'node:path'

/** Whether there is a file of that name; it need not be executable. */
export async function isInstalled (program: string, directory: string, path: string): Promise<boolean> {
  for (const file of candidates(program, directory, path)) {
    if (await isFile(file)) return true
  }
  return false
}

/** Where a program is that can be run from here: by its name on `path`, or by its path, seen from `directory`. */
export async function installedProgram (program: string, directory: string, path: string): Promise<string | undefined> {
  for (const file of candidates(program, directory, path)) {
    if (await isExecutable(file)) return file
  }
  return undefined
}

function candidates (program: string, directory: string, path: string): string[] {
  const places = program.includes('/') ? [directory] : path.split(delimiter).filter(isAbsolute)
  return places.map(place => resolve(place, program))
}

async function isExecutable (file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return await isFile(file)
  } catch {
    return false
  }
}

async function isFile (file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
