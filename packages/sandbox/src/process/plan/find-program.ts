import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * The first executable file of that name on a PATH. Relative directories are passed over: they would mean the workspace,
 * which tools write to.
 */
export function findOnPath (name: string, path: string | undefined): string | undefined {
  return (path ?? '').split(delimiter).filter(isAbsolute).map(directory => join(directory, name)).find(isProgram)
}

const answerMs = 5_000

/** The output of a program that runs through in a few seconds, its `--help`, say; undefined for one that doesn't. */
export async function askProgram (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string | undefined> {
  return await new Promise(resolve => {
    execFile(program, args, { env, timeout: answerMs }, (error, stdout, stderr) => {
      resolve(error === null ? stdout + stderr : undefined)
    })
  })
}

export function isProgram (file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
