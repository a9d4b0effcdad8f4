import { isAbsolute } from 'node:path'
import { findOnPath } from '../process/plan/find-program.ts'
import { containedFile } from './contained-file.ts'

/**
 * The absolute path of a skill's program; undefined when there is none.
 *
 * A bare name is looked up on `path`. A name with a slash is an absolute path, or
 * one below the skill's directory that no link leads out of.
 */
export async function findProgram (name: string, directory: string, path: string | undefined): Promise<string | undefined> {
  if (isAbsolute(name)) return name
  if (name.includes('/')) return await containedFile(directory, '', name)
  return findOnPath(name, path)
}
