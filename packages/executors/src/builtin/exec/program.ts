import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** The program that a command means: itself when it is a path, else the first one of its name on the PATH. */
export function findProgram (command: string, path: string | undefined): string | undefined {
  const candidates = command.includes('/') ? [command] : (path ?? '').split(delimiter).filter(isAbsolute).map(directory => join(directory, command))
  return candidates.find(isProgram)
}

function isProgram (file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
