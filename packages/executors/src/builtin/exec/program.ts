import { findOnPath, isProgram } from '../../process/plan/find-program.ts'

/** The program that a command means: itself when it is a path, else the first one of its name on the PATH. */
export function findProgram (command: string, path: string | undefined): string | undefined {
  if (!command.includes('/')) return findOnPath(command, path)
  return isProgram(command) ? command : undefined
}
