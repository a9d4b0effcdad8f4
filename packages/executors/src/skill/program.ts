import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { containedFile } from './contained-file.ts'

/**
 * The absolute path of a skill's program; undefined when there is none.
 *
 * A bare name is looked up on `path`, but only in absolute directories: a relative one would mean the workspace, which
 * tools write to. A name with a slash is an absolute path, or one below the skill's directory that no link leads out of.
 */
export async function findProgram (name: string, directory: string, path: string | undefined): Promise<string | undefined> {
  if (isAbsolute(name)) return name
  if (name.includes('/')) return await containedFile(directory, '', name)
  for (const place of (path ?? '').split(delimiter).filter(isAbsolute)) {
    const file = join(place, name)
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
