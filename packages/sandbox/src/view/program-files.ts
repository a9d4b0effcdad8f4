import { basename, dirname, isAbsolute } from 'node:path'
import { realPath } from '@toolyard/workspace'
import { findOnPath } from '../process/plan/find-program.ts'
import { headOf } from '../process/plan/program-format.ts'
import { installationOf } from './search-path.ts'

const headBytes = 512
const programDirectories = new Set(['bin', 'sbin', 'libexec', 'scripts'])
/** Where a package that npm has installed finds what it needs. */
const packagesAround = /^.*?\/node_modules(?=\/)/

/**
 * The files that a program needs to start: itself, or its directory when that is one for programs, the installation that
 * it belongs to, and the same of the interpreter that its first line names. Nothing is checked; paths may be missing.
 *
 * @param path the PATH on which `#!/usr/bin/env NAME` looks
 */
export function programFiles (program: string, path: string): string[] {
  const interpreter = interpreterOf(program, path)
  return [program, ...(interpreter === undefined ? [] : [interpreter])].flatMap(file => {
    const real = realPath(file)
    return [file, ...(real === undefined || real === file ? [] : [real])].flatMap(placeOf)
  })
}

function placeOf (file: string): string[] {
  const modules = packagesAround.exec(file)?.[0]
  if (modules !== undefined) return [modules]
  const directory = dirname(file)
  return programDirectories.has(basename(directory)) ? installationOf(directory) : [file]
}

/** Resolves `#!/usr/bin/env [-S] NAME` on the PATH; undefined for what is no script. */
function interpreterOf (program: string, path: string): string | undefined {
  const [command, ...words] = /^#![ \t]*([^\n]*)/.exec(headOf(program, headBytes)?.toString('latin1') ?? '')?.[1]?.trim().split(/[ \t]+/) ?? []
  if (command === undefined || !isAbsolute(command)) return undefined
  if (basename(command) !== 'env') return command
  const name = words.find(word => !word.startsWith('-') && !word.includes('='))
  return name === undefined ? command : findOnPath(name, path) ?? command
}
